"""Colours by contract, told apart by colour-blind eyes and by their lightness in print (Okabe and Ito's palette)."""

COLOURS = {
    "exact_order": "#0072B2",
    "float32": "#56B4E9",
    "bf16x3": "#009E73",
    "tf32": "#E69F00",
    "fp16": "#CC79A7",
    "bf16": "#F0E442",
}
