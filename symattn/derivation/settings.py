"""What each setting of a mechanism does and takes, in words.

Words alone, for help and lists, so that `symattn --help` need not load what works with them; the settings themselves
are `symattn.derivation.mechanisms.Settings`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from symattn.errors import InputError


class Setting(NamedTuple):
    """A setting in words: its placeholder in help, what it does (one line), and the values it takes.

    `unset` is what is said of it where it is not set, if `Settings` leaves it open (None or an empty text).
    """

    metavar: str
    about: str
    values: str
    unset: str = "none"


ABOUT: Mapping[str, Setting] = {
    "arithmetic": Setting(
        "HOW",
        "Exact values, or decimals with proof.",
        "exact: fractions, roots and powers of e; decimal: decimals whose every digit is proved; auto: exact while a "
        "line stays readable, then decimals",
    ),
    "scale": Setting(
        "EXPR", "The divisor of the scores.", "none, sqrt(d_k), sqrt(d_model), d_k, or a number: 3, sqrt(5), …"
    ),
    "mask": Setting(
        "MASK",
        "Which keys each query sees.",
        "none; causal (the last query sees every key); causal:top-left; past (earlier tokens alone); padding:2 (two "
        "real tokens); window:2; window:2:both; prefix:2; blocks:2,1; rows [[1,0],[1,1]] of seen (1) and hidden "
        "(0); hidden:[[0,1],[0,0]] with 1 for hidden; additive:[[0,-10],[0,0]], added to the "
        "scores; several joined by +, or in a list",
    ),
    "mask_style": Setting(
        "STYLE", "How the mask is written and applied.", "additive, keep, block, multiplicative (as in note 004)"
    ),
    "base": Setting("B", "The base of the softmax.", "e, 2, 3, …"),
    "orientation": Setting("WAY", "Whether tokens are rows or columns.", "rows: Q = X W_Q; columns: Q = W_Q X"),
    "by": Setting(
        "WAY",
        "Whole matrices or token by token (--by-matrix, --by-token).",
        "matrix; token: the weighted values of one token are written out, then summed",
    ),
    "scores": Setting("WAY", "Token by token: how a token's scores are laid out.", "row, column"),
    "activation": Setting("F", "The function applied to the projections.", "identity, relu, or a name such as f"),
    "order": Setting("QKV", "The order of the projections.", "the letters Q, K and V in some order, such as KVQ"),
    "rounding": Setting(
        "P[:HOW[:TIES]]",
        "Round the weights and go on with the rounded ones (--round).",
        "P places; HOW: nearest, largest-remainder, truncate; TIES: even, up, down",
    ),
    "stop_at": Setting("STEP", "The last step worked out.", "the name of a step, such as S or A", "the end"),
    "heads": Setting("N", "The number of heads.", "1 to 128"),
    "kv_heads": Setting("N", "The number of key and value heads.", "1 (multi-query) to 128; 0: as many as query heads"),
    "split": Setting(
        "HOW",
        "Which columns belong to which head.",
        "consecutive: head 1 has the first d_k columns; interleaved: head i has every h-th column from column i on",
    ),
    "empty": Setting("HOW", "The weights of a query that sees no key.", "undefined, zero"),
    "weights": Setting(
        "HOW", "How scores become weights.", "softmax; sum: each score over the sum of its row; hardmax"
    ),
    "cap": Setting("C", "Soft cap: scores become C·tanh(score/C).", "a positive number"),
    "temperature": Setting("T", "Temperature: scores, or logits, are also divided by T.", "a positive number"),
    "bias": Setting(
        "BIAS", "A bias by distance, added to the scaled scores.", "alibi; alibi:1/2,1/4 with a slope for each head"
    ),
    "feature": Setting("F", "The feature map φ of linear attention.", "elu+1, relu, square, identity"),
    "position": Setting(
        "HOW",
        "How positions enter.",
        "none, sinusoidal, sinusoidal-halves, learned (P is given), rotary, rotary-halves",
    ),
    "wavelength": Setting("BASE", "The base of the positional angles.", "a positive number"),
    "angles": Setting(
        "ANGLES",
        "The positional angles themselves, in place of a wavelength.",
        "one for all pairs of features, or one for each, in degrees, in radians or as cosine and sine: "
        "90; pi/6; 1/2 rad; 3/5+4/5i",
        "from the wavelength",
    ),
    "first_position": Setting("0|1", "The number of the first position.", "0, 1"),
    "embedding": Setting(
        "HOW", "Whether embeddings are scaled.", "plain; scaled: multiplied by √d_model before positions are added"
    ),
    "norm": Setting("NORM", "The norm of a block.", "layer, rms, none"),
    "norm_place": Setting("WHERE", "Where a block normalises.", "post: each sum; pre: the input of each sublayer"),
    "epsilon": Setting("EPS", "ε under the root of a norm.", "0 (for work by hand) or a positive number"),
    "variance": Setting("HOW", "The divisor of the variance.", "population: d; sample: d − 1"),
    "function": Setting(
        "F",
        "The activation of a feed-forward or recurrent network.",
        "relu, gelu, gelu_tanh, silu, tanh, sigmoid, identity",
    ),
    "blocks": Setting("N", "The number of stacked blocks.", "1 to 6"),
    "tile": Setting("N", "The number of keys in a block of the online softmax.", "1 to 64"),
    "prompt": Setting(
        "WORDS",
        "The words whose embeddings are looked up in E.",
        "some of the words, such as the, students; or their numbers from 1",
    ),
    "top_k": Setting(
        "K",
        "How many of the largest probabilities are kept, over their sum.",
        "1 to the number of words; of equal ones the first are kept; 0: all",
    ),
    "words": Setting(
        "WORDS",
        "The words of the columns of logits; the next word is worked out.",
        "a word for each column: the, students, open, their, books; numbers: their numbers alone",
    ),
    "learning_rate": Setting(
        "ETA", "One step of gradient descent after the gradients: W − η·dW.", "a positive number: 1/10"
    ),
}


def typed_rounding(text: str, named: str = "rounding") -> dict[str, int | str] | None:
    """The setting for P[:HOW[:TIES]], or none, as it is typed; in an `InputError` it is what is `named`."""
    if text == "none":
        return None
    parts = text.split(":")
    places, method, ties = (*parts, "", "")[:3]
    if not places.isdecimal() or len(places) > 3 or len(parts) > 3:
        raise InputError(f"{named} is {text!r}; places such as 2, or 1:largest-remainder, were expected.")
    return {"places": int(places), "method": method or "nearest", "ties": ties or "even"}
