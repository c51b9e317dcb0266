"""The words by which names of tools and fields are read, one module for each kind of word.

`fields`: words that names of fields are made of. `verbs`: what tools do. `fillers`: words inside names that name
nothing. `families`: words of one kind of meaning. `forms`: plurals and abbreviations. `chinese`: Chinese terms. `reading`
reads whole names with them. General language only: no name of a product or of a public tool list.
"""
