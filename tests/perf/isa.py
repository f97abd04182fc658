"""A64 assembly text, as far as a timing model needs it: kinds, registers read and written, bytes."""
import re
from dataclasses import dataclass
from functools import lru_cache

REGISTER = re.compile(r'\b(?:([vqdshb])(\d+)|([xw])(\d+)|(sp|wsp|lr|fp))\b')
MULTIPLY_ACCUMULATE = re.compile(
    r'^(fml[as]l?2?|fmul|fn?m(add|sub)|[su]dot|usdot|sudot|[su]mmla|usmmla|bfmmla|bfdot|bfmlal[bt]|'
    r'[su]ml[as]l2?|[su]mull2?|ml[as])$')
ACCUMULATES = re.compile(
    r'^(fml[as]|[su]dot|usdot|sudot|[su]mmla|usmmla|bfm|bfdot|[su]ml[as]l|ml[as]$|bit|bif|bsl|ins|'
    r'[su]adalp|[su]aba|sli|sri|tbx|movk|bfi|bfxil)')
CONDITIONAL = re.compile(r'^(b\.|cs|cin|cnd|cset|cneg|ccm|adc|sbc|fcsel)')
SETS_FLAGS = re.compile(r'^(cmp|cmn|tst|ccm|fcmp|fccmp|subs|adds|ands|bics|negs|adcs|sbcs)')
BRANCH = re.compile(r'^(b|bl|br|blr|ret|b\.\w+|cbn?z|tbn?z)$')
LOAD = re.compile(r'^(ld)')
STORE = re.compile(r'^(st)')
VECTOR_BYTES = {'q': 16, 'd': 8, 's': 4, 'h': 2, 'b': 1}


@dataclass(frozen=True)
class Operation:
    """kind: mac, simd, insert (general to vector register), integer, load_vector, load_integer,
    store, prefetch, branch. `bytes` of memory operations; `based` are address registers that the
    operation updates; `shuffles` of vectors, beside the memory operation: LD1R and lanes have one,
    LD2 to LD4 and ST2 to ST4 one for each register, twice from three registers on."""
    mnemonic: str
    kind: str
    reads: tuple
    writes: tuple
    based: tuple = ()
    bytes: int = 0
    shuffles: int = 0


def registers(text):
    """'v3', 'x7' and so on, in order; zero registers do not match."""
    names = []
    for vector, vector_number, general, general_number, special in REGISTER.findall(text):
        if vector:
            names.append('v' + vector_number)
        elif general:
            names.append('x' + general_number)
        else:
            names.append({'wsp': 'sp', 'lr': 'x30', 'fp': 'x29'}.get(special, special))
    return tuple(names)


def vector_bytes(text):
    """The bytes of the vector registers in the list in front of an address."""
    arranged = re.findall(r'\bv\d+\.(\d*)([bhsd])\b', text)
    if arranged:
        return sum((int(lanes) if lanes else 1) * VECTOR_BYTES[size] for lanes, size in arranged)
    return sum(VECTOR_BYTES[letter] for letter in re.findall(r'\b([qdshb])\d+\b', text))


def shuffles_of(mnemonic, values, is_lane):
    if is_lane or re.match(r'ld[1-4]r', mnemonic):
        return len(values)
    interleaved = re.match(r'(ld|st)([234])$', mnemonic)
    return len(values) * (1 if interleaved[2] == '2' else 2) if interleaved else 0


def memory_operation(mnemonic, operands):
    at = operands.rindex('[')
    front, address = operands[:at], operands[at:]
    inside, _, after = address.partition(']')
    values, base = registers(front), registers(inside)
    based = base[:1] if after.startswith('!') or after.strip(', ') else ()
    if mnemonic.startswith('prfm'):
        return Operation(mnemonic, 'prefetch', base, ())
    is_vector = bool(values) and values[0][0] == 'v'
    count = vector_bytes(front) if is_vector else len(values) * (4 if re.match(r'w\d', front) else 8)
    is_lane = bool(re.search(r'\}\s*\[\d+\]', front))
    shuffles = shuffles_of(mnemonic, values, is_lane)
    if STORE.match(mnemonic):
        reads = values + base + registers(after)
        return Operation(mnemonic, 'store', reads, (), based, count, shuffles)
    reads = base + registers(after) + (values if is_lane else ())
    kind = 'load_vector' if is_vector else 'load_integer'
    return Operation(mnemonic, kind, reads, values, based, count, shuffles)


def arithmetic(mnemonic, operands):
    names = registers(operands)
    flags = ('flags',)
    if SETS_FLAGS.match(mnemonic):
        compares = mnemonic.startswith(('cmp', 'cmn', 'tst', 'ccm', 'fcmp', 'fccmp'))
        reads, writes = (names, flags) if compares else (names[1:], names[:1] + flags)
    else:
        reads, writes = names[1:], names[:1]
    writes_lane = bool(re.match(r'v\d+\.[bhsd]\[\d+\]', operands))
    if ACCUMULATES.match(mnemonic) or writes_lane:
        reads = names
    if CONDITIONAL.match(mnemonic):
        reads += flags
    return Operation(mnemonic, arithmetic_kind(mnemonic, names), reads, writes)


def arithmetic_kind(mnemonic, names):
    if MULTIPLY_ACCUMULATE.match(mnemonic) and names and names[0][0] == 'v':
        return 'mac'
    if names and names[0][0] == 'v':
        from_general = len(names) > 1 and names[-1][0] == 'x'
        return 'insert' if from_general else 'simd'
    return 'simd' if any(name[0] == 'v' for name in names) else 'integer'


@lru_cache(maxsize=None)
def parse(line):
    mnemonic, _, operands = line.partition(' ')
    if BRANCH.match(mnemonic):
        reads = registers(operands) + (('flags',) if mnemonic.startswith('b.') else ())
        return Operation(mnemonic, 'branch', reads, ())
    if (LOAD.match(mnemonic) or STORE.match(mnemonic) or mnemonic.startswith('prf')) and '[' in operands:
        return memory_operation(mnemonic, operands)
    return arithmetic(mnemonic, operands)


# ---- text that every model accepts ----

SYSTEM = {'svc', 'mrs', 'msr', 'isb', 'dmb', 'dsb', 'hint', 'udf', 'brk', 'clrex', 'sys', 'dc', 'ic',
          'yield', 'bti', 'paciasp', 'autiasp'}
BRANCH_TARGET = re.compile(r'^(b\.?\w*|cbn?z|tbn?z)( .*?)#-?\w+$')


def normalised(line):
    """Targets and constants that differ between equal blocks become equal; what a model would take
    for a call, a return or a trap becomes a branch or a nop."""
    mnemonic, _, operands = line.partition(' ')
    if mnemonic in SYSTEM:
        return 'nop'
    if mnemonic in ('bl', 'blr', 'br', 'ret'):
        return 'b #-64'
    if mnemonic in ('adr', 'adrp'):
        return f"mov {operands.split(',')[0]}, #1"
    if mnemonic.startswith('ldr') and '[' not in operands:
        return f"{mnemonic} {operands.split(',')[0]}, [sp]"
    return BRANCH_TARGET.sub(r'\1\2#-64', line)
