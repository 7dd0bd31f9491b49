"""What comes after self-attention: other sources, positions, caches, other orders of work (rules.md 5, type 18)."""

from symattn.teaching.problems.full import Exercise, variety

TYPE = variety(
    "extensions",
    "Cross-attention, positions, cache, linear attention, online softmax",
    {
        "cross-attention": Exercise(
            "cross_attention", "Queries come from one sequence; keys and values come from the output of an encoder."
        ),
        "rotary": Exercise(
            "rotary_attention", "Queries and keys are rotated by angles that grow with their positions, then compared."
        ),
        "positions": Exercise(
            "positional_encoding", "Work out the encoding of every position, and add it to the inputs."
        ),
        "positions-attention": Exercise(
            "positional_self_attention", "The encodings of the positions are added to the inputs; attention follows."
        ),
        "cache": Exercise(
            "kv_cache", "Decode token by token: keys and values of earlier tokens are cached, not worked out again."
        ),
        "linear-attention": Exercise(
            "linear_attention",
            "There is no softmax: keys and values are summed first, and every query is then applied to the sums.",
        ),
        "online-softmax": Exercise(
            "online_softmax",
            "Keys and values come block by block. Keep a running maximum, a running sum and a running output.",
        ),
    },
)
