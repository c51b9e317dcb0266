"""Tools from any source, frozen as a model may see them.

`catalog` the set and its look-ups; `load` the door for sources (`sources/`, `definitions`, `gather`); `reading`, `dialect`,
`keywords`, `references`, `bounded` from a foreign schema to one dialect; `schema`, `problems`, `shape`, `engine` schemas in
use; `naming` wire names and emitted names; `overlay` notes beside somebody else's tools; `identity`, `snapshot`, `diff`,
`schema_diff` what a tool is and whether it changed; `view`, `export`, `portable` what a model is shown; `similar`
look-alikes; `findings` the table of what loading can find.
"""
