//! Finds the fenced blocks of a document.

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What stands behind the opening fence.
    pub(super) language: String,
    /// The line of the opening fence, as people count.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The blocks of a document, in order.
pub(super) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(language)) => {
                let language = language.trim().to_owned();
                open = Some(Block { language, line: index + 1, text: String::new() });
            }
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block is not closed");
    blocks
}

#[test]
fn blocks_are_found_with_their_language_and_line() {
    let found = blocks("a\n```sh\nb\nc\n```\n\n```\n```\n");
    let seen: Vec<_> = found.iter().map(|it| (&*it.language, it.line, &*it.text)).collect();
    assert_eq!(seen, [("sh", 2, "b\nc\n"), ("", 7, "")]);
}
