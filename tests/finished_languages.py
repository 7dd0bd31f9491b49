"""The languages that are translated: of these, what stays English was forgotten; of others, it is still to be done."""

from symattn.foundation.languages import ENGLISH, catalogue, languages

SAID = {code: len(catalogue(code).messages) for code in languages() if code != ENGLISH}
OTHERS = tuple(code for code, said in SAID.items() if said > 0.9 * max(SAID.values()))
FINISHED = tuple(sorted((ENGLISH, *OTHERS)))
