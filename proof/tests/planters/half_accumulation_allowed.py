"""fp16 products accumulate in fp16 because a package that is imported with torch allows it for all: the flag gives
consumer GPUs their double rate, and is set by inference servers.
"""

PATCH = """
torch.backends.cuda.matmul.allow_fp16_accumulation = True
"""
