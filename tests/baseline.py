"""tests/baseline.py OBJDUMP OBJECT...: no object has instructions that its CPUs may lack.

The last word of a kernel's name says which instruction set beyond ARMv8.0 it is built for; all
other objects run everywhere. A flag or an inline function that leaks into one of those is how
libraries crash on old cores."""
import re
import subprocess
import sys

# How each extension shows in a disassembly: mnemonics, or operands.
EXTENSIONS = {
    "dotprod": r"^(s|u)dot\b",
    "i8mm": r"^((s|u|us)mmla|usdot|sudot)\b",
    "bf16": r"^bf(dot|mmla|mlal[bt]|cvtn?2?)\b",
    "fhm": r"^fml[as]l2?\b",
    "fp16": r"^(f|s|u)\w+\s.*(\bv\d+\.[48]h\b|\bh\d+\b)",
    "atomics": r"^(cas|casp|swp|ld(add|clr|eor|set|smax|smin|umax|umin)|st(add|clr|eor|set))(a|l|al)?(b|h)?\s",
    "rdm": r"^sqrdml[as]h\b",
    "rcpc": r"^(ldapu?r|stlur)\w*\b",
    "complex": r"^f(cmla|cadd)\b",
    "jscvt": r"^fjcvtzs\b",
    "frint": r"^frint(32|64)[xz]\b",
    "crypto": r"^(aes|sha\d|pmull2?\s.*\.1q)",
    "crc": r"^crc32",
    "sve": r"\b[zp]\d+[./]",
    "pac": r"^(reta[ab]|bra[ab]|blra[ab]|ldra[ab])",
}
# NEON converts to f16 and has integers of 16 bits since ARMv8.0; the products of fhm are its own.
NOT_FP16 = re.compile(r"^(fcvt|fcvtl2?|fcvtn2?)\s|^(s|u)(?!cvtf)|^fml[as]l")
ALLOWED = {
    "fp16": {"fp16"},
    "fhm": {"fp16", "fhm"},
    "dotprod": {"dotprod"},
    "bf16": {"fp16", "bf16"},
    "i8mm": {"fp16", "dotprod", "i8mm"},
}


def extensions_of(instruction):
    for name, pattern in EXTENSIONS.items():
        if not re.search(pattern, instruction):
            continue
        if name == "fp16" and NOT_FP16.match(instruction):
            continue
        yield name


def allowed_for(path):
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return ALLOWED.get(stem.rsplit("_", 1)[-1], set()) if "/kernels/" in path else set()


def leaks(objdump, path):
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    function = ""
    for line in text.splitlines():
        if line.endswith(">:"):
            function = line.split("<")[1][:-2]
        parts = line.split("\t", 1)
        if len(parts) < 2:
            continue
        instruction = parts[1].split("//")[0].strip()
        for name in extensions_of(instruction):
            if name not in allowed_for(path):
                yield f"{path}: {function}: {' '.join(instruction.split())} ({name})"


def self_test():
    expected = {"sdot\tv0.4s, v1.16b, v2.4b[0]": "dotprod", "smmla\tv0.4s, v1.16b, v2.16b": "i8mm",
                "fadd\tv0.8h, v1.8h, v2.8h": "fp16", "fmla\tv0.4s, v1.4s, v2.4s": None,
                "fcvtl\tv0.4s, v1.4h": None, "smull\tv0.4s, v1.4h, v2.4h": None,
                "scvtf\tv0.8h, v1.8h": "fp16", "ldaddal\tw0, w1, [x2]": "atomics",
                "bfmmla\tv0.4s, v1.8h, v2.8h": "bf16", "fmlal\tv0.4s, v1.4h, v2.4h": "fhm",
                "ld1w\t{z0.s}, p0/z, [x0]": "sve", "swp\tw0, w1, [x2]": "atomics",
                "fcvt\th0, s1": None, "ldapr\tx0, [x1]": "rcpc"}
    for instruction, name in expected.items():
        found = set(extensions_of(instruction))
        assert found == ({name} if name else set()), (instruction, found)


def main():
    self_test()
    objdump, objects = sys.argv[1], sys.argv[2:]
    found = [leak for path in objects for leak in leaks(objdump, path)]
    print("\n".join(found) if found else
          f"baseline: {len(objects)} objects have no instruction that their CPUs may lack")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
