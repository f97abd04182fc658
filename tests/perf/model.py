"""From counts and blocks to figures: instructions per multiply-accumulate, percent of a core's peak."""
from dataclasses import dataclass, field

import blocks
from cores import CORES
from shapes import MACS_PER_VECTOR

COVER = 0.998  # blocks are modelled from the hottest on until they hold this share of instructions
# Products are integers and exact; the tolerance is for algorithms that transform (Winograd).
TOLERATED_ERROR = 1e-3


@dataclass
class Figures:
    """`vectors` is the useful work: multiply-accumulates / 4. Percentages are of the peak of FMLA on
    four floats; an algorithm that needs fewer products than the definition can exceed 100."""
    refused: str = ''
    vectors: float = 0
    instructions: int = 0
    executed: float = 0      # scalar products that were computed
    loads: int = 0
    loaded_bytes: int = 0
    error: float = 0
    cycles: dict = field(default_factory=dict)   # core -> modelled cycles
    lines: dict = field(default_factory=dict)    # counters of the cache model

    @property
    def per_mac(self):
        return self.instructions / self.vectors

    @property
    def executed_ratio(self):
        return self.executed / (MACS_PER_VECTOR * self.vectors)

    @property
    def loads_per_mac(self):
        return self.loads / self.vectors

    def percent(self, core):
        return 100 * self.vectors / self.cycles[core] / CORES[core].peak

    def lines_per_1000(self, first, second):
        return 1000 * (self.lines[first] + self.lines[second]) / self.vectors

    @property
    def l1_lines(self):
        return self.lines_per_1000('l1_fills', 'l1_writebacks')

    @property
    def l2_lines(self):
        return self.lines_per_1000('l2_fills', 'l2_writebacks')


def hottest(result):
    """The blocks to model, and the factor by which their cycles stand for all."""
    ordered = sorted(((runs, tuple(words)) for runs, _, words in result['blocks']),
                     key=lambda block: (-block[0] * len(block[1]), block[1]))
    total = sum(runs * len(words) for runs, words in ordered)
    covered, chosen = 0, []
    for runs, words in ordered:
        chosen.append((runs, words))
        covered += runs * len(words)
        if covered >= COVER * total:
            break
    return chosen, total / covered


class Model:
    def __init__(self, costs):
        self.costs = costs
        self.disassembler = blocks.Disassembler()

    def cycles(self, core, results):
        """Modelled cycles of each result; all new blocks go through the model together."""
        chosen = [hottest(result) for result in results]
        self.disassembler.learn(word for parts, _ in chosen for _, words in parts for word in words)
        texts = [[(runs, self.disassembler.text(words)) for runs, words in parts]
                 for parts, _ in chosen]
        self.costs.learn(core, (text for parts in texts for _, text in parts))
        return [scale * sum(runs * self.costs.of(core, text) for runs, text in parts)
                for parts, (_, scale) in zip(texts, chosen)]


    def profile(self, core, result):
        """[(cycles, runs, symbol, text)], the most expensive first."""
        blocks_of = [(runs, symbol, tuple(words)) for runs, symbol, words in result['blocks']]
        self.disassembler.learn(word for _, _, words in blocks_of for word in words)
        named = [(runs, symbol, self.disassembler.text(words)) for runs, symbol, words in blocks_of]
        self.costs.learn(core, (text for _, _, text in named))
        rows = [(runs * self.costs.of(core, text), runs, symbol, text) for runs, symbol, text in named]
        return sorted(rows, key=lambda row: -row[0])


def figures_of(problem, result):
    if 'refused' in result:
        return Figures(refused=result['refused'])
    counts = result['counts']
    return Figures(vectors=problem.macs / MACS_PER_VECTOR, instructions=counts['total'],
                   executed=counts['macs'], loads=counts['load'], loaded_bytes=counts['load_bytes'],
                   error=result['error'])
