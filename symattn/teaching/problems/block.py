"""The parts of a Transformer block beside attention, and whole blocks (rules.md 5, type 13)."""

from symattn.teaching.problems.full import Exercise, variety

TYPE = variety(
    "block",
    "Residual, layer norm, feed-forward network; whole blocks",
    {
        "after-attention": Exercise(
            "block_after_attention",
            "The attention layer has been computed; its inputs and outputs are given. Work out the rest of the block.",
        ),
        "layer-norm": Exercise("layer_norm", "Normalise every token over its own features."),
        "rms-norm": Exercise("rms_norm", "Divide every token by the root of the mean of its squares."),
        "feed-forward": Exercise("feed_forward", "Work out the feed-forward network, token by token."),
        "encoder": Exercise(
            "encoder_block",
            "Work out one block of an encoder, from its inputs to its outputs.",
            {"softmax": "base 3"},  # weights are fractions, and norms can be
        ),
    },
)
