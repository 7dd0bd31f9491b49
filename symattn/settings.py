"""What may be said about how a mechanism is worked out: every setting with what it takes and a sentence on it.

Words alone, for help and lists, so that `symattn --help` need not load what works with them; the settings themselves
are `symattn.mechanisms.Settings`.
"""

from collections.abc import Mapping

ABOUT: Mapping[str, tuple[str, str]] = {
    "arithmetic": (
        "HOW",
        "exact: fractions, roots and powers of e; decimal: decimals whose every digit is proved; auto: exact as long "
        "as a line can be read, then decimals.",
    ),
    "scale": ("EXPR", "What scores are divided by: sqrt(d_k), none, sqrt(d_model), d_k, 3, sqrt(5), …"),
    "mask": (
        "MASK",
        "none, causal (the last query sees every key), causal:top-left, past (earlier tokens alone), padding:2 (two "
        "real tokens), window:2, window:2:both, prefix:2, blocks:2,1, rows [[1,0],[1,1]] of seen (1) and hidden (0), "
        "hidden:[[0,1],[0,0]] with 1 for hidden; several joined by +. additive:[[0,-10],[0,0]] is added to the scores.",
    ),
    "mask_style": ("STYLE", "additive, keep, block or multiplicative (as in note 004)."),
    "base": ("B", "Base of the softmax: e, 2, 3, …"),
    "orientation": ("WAY", "rows: tokens are rows, Q = X W_Q; columns: tokens are columns, Q = W_Q X."),
    "by": ("WAY", "matrix, or token: one token after the other, its values weighted and then summed."),
    "scores": ("WAY", "Token by token, scores stand in a row or in a column."),
    "activation": ("F", "Of the projections: identity, relu, or a name such as f."),
    "order": ("QKV", "The order of the projections, such as KVQ."),
    "rounding": ("P[:HOW[:TIES]]", "Of the weights, carried on: places, and nearest, largest-remainder or truncate."),
    "stop_at": ("STEP", "The last step worked out, such as S or A."),
    "heads": ("N", "How many heads."),
    "kv_heads": ("N", "How many key and value heads they share; 1: multi-query, 0: as many as heads."),
    "split": ("HOW", "consecutive: head 1 has the first d_k columns; interleaved: every h-th column from its own."),
    "empty": ("HOW", "A row that sees nothing is undefined, or zero."),
    "weights": ("HOW", "How scores become weights: softmax, sum (score over the sum of its row), hardmax."),
    "cap": ("C", "Soft cap: scores become C·tanh(score/C)."),
    "temperature": ("T", "Scores are divided by T besides."),
    "bias": ("BIAS", "alibi, or alibi:1/2,1/4 with a slope for every head; added to the scaled scores."),
    "feature": ("F", "φ of linear attention: elu+1, relu, square or identity."),
    "position": ("HOW", "none, sinusoidal, sinusoidal-halves, learned (a given P), rotary or rotary-halves."),
    "wavelength": ("BASE", "The base of the angles of positions, 10000."),
    "angles": (
        "ANGLES",
        "The angles themselves, one for all pairs of features or one for each, in degrees, in radians or as "
        "cosine and sine: 90, pi/6, 1/2 rad, 3/5+4/5i.",
    ),
    "first_position": ("0|1", "The number of the first position."),
    "embedding": ("HOW", "plain; scaled: times √d_model before positions are added."),
    "norm": ("NORM", "layer, rms or none."),
    "norm_place": ("WHERE", "post: the sum is normalised; pre: the input of every sublayer."),
    "epsilon": ("EPS", "ε, under the root of a norm; 0 for work by hand."),
    "variance": ("HOW", "population (over d) or sample (over d − 1)."),
    "function": ("F", "Of a feed-forward or recurrent network: relu, gelu, gelu_tanh, silu, tanh, sigmoid, identity."),
    "blocks": ("N", "How many blocks are stacked."),
    "tile": ("N", "How many keys a block of the online softmax has."),
}
