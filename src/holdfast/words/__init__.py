"""How long the description of a question is, in bits: the prior "words/1" on canonical trees.

A question is answered through parts; each part is priced by the one derivation that the table of
`holdfast.theory.length.words` has for its canonical tree. What has no derivation has no price.
"""
