"""The survey's grid, written by lab/grid.py. A row holds the index of each axis's value; a run uses ``A_DAY`` rows."""

A_DAY = 5
AXES = {
    "format": ("float32", "bfloat16", "float16", "complex64"),
    "layout": ("plain", "strided", "transposed", "expanded", "size-one", "offset", "overlapping"),
    "size": ("listed", "empty", "one", "broadcast", "tail", "wide", "long", "batch"),
    "option": ("first", "second", "third"),
    "mode": ("eager", "in place", "out=", "autocast"),
    "values": ("ordinary", "NaN", "negative NaN", "infinite", "subnormal", "zero", "large"),
    "direction": ("forward", "backward"),
    "threads": ("all", "1", "3"),
}
ROWS = """
16420300 13512001 05702402 16120011 36322101 01623012 15321602 22400102 33720102 02721400 00312201 22221201 22111002
13622602 04510200 12003611 14013502 15523300 00421402 03402201 31211102 04422401 06010400 12313301 04413612 04501400
11700200 33300501 15200500 33100000 35410011 20100011 10510611 34720102 02503100 23202302 03223610 01422502 33010002
06220000 32602500 06612101 04613300 03620402 25110000 24300010 10613100 04103010 01311402 06710002 30721501 36500502
14210002 00001301 14710302 06713610 21001301 26012201 00222401 21100010 05020102 02403202 15611200 01511600 16703002
""".split()
