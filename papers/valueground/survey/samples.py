"""Small files to begin with, as the import page offers them."""

CODEBOOK = """\
question,text,code,label
Q1,How important is family in your life?,1,Very important
Q1,,2,Rather important
Q1,,3,Not very important
Q1,,4,Not at all important
Q1,,-1,Don't know
"""
COUNTS = """\
question,country,code,count
Q1,Japan,1,910
Q1,Japan,2,310
Q1,JP,3,80
Q1,JP,4,20
"""
SAMPLES = {"codebook": CODEBOOK, "counts": COUNTS}
