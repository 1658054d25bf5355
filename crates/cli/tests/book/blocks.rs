//! The fenced blocks of a page.

/// Text between two fences.
pub struct Block {
    /// What stands first behind the opening fence.
    pub language: String,
    /// What follows, separated by commas.
    attributes: Vec<String>,
    /// The lines between the fences.
    pub text: String,
    /// Where it begins.
    pub line: usize,
}

impl Block {
    /// Is it marked with this word?
    pub fn has(&self, word: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute == word)
    }

    /// The value of `key=value`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find_map(|attribute| attribute.strip_prefix(key)?.strip_prefix('='))
    }
}

/// All blocks, from top to bottom.
pub fn of(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![];
    let mut open = false;
    for (k, line) in page.lines().enumerate() {
        match (line.trim().strip_prefix("```"), open) {
            (Some(_), true) => open = false,
            (Some(info), false) => {
                let mut words = info.split(',').map(|word| word.trim().to_string());
                let language = words.next().unwrap_or_default();
                blocks.push(Block { language, attributes: words.collect(), text: String::new(), line: k + 1 });
                open = true;
            }
            (None, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            (None, false) => (),
        }
    }
    blocks
}

#[test]
fn blocks_have_language_attributes_and_text() {
    let blocks = of("a\n```toml,file=m.toml\nx = 1\n\ny = 2\n```\nb\n```text\n```\n");
    assert_eq!(blocks.len(), 2);
    assert_eq!((blocks[0].language.as_str(), blocks[0].value("file")), ("toml", Some("m.toml")));
    assert_eq!((blocks[0].text.as_str(), blocks[0].line), ("x = 1\n\ny = 2\n", 2));
    assert!(!blocks[0].has("fragment") && blocks[1].text.is_empty());
}
