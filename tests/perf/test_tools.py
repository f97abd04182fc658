"""Tests of the performance tools: python3 -m unittest test_tools (in this folder; make perf-test)."""
import argparse
import contextlib
import io
import itertools
import math
import os
import re
import tempfile
import unittest
from dataclasses import replace
from types import SimpleNamespace

import blocks
import choices
import cores
import cycles
import emulator
import excess
import expected
import hardware
import inorder
import isa
import layouts
import lines
import measure
import model
import perf
import ports
import ratios
import recorded
import report
import shapes
import summary
import svg
import unpacked

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


class Descriptors(unittest.TestCase):
    def test_name_and_multiplicity_are_split(self):
        self.assertEqual(shapes.split_name('2x3:3x4n"net:layer*12"'), ('2x3:3x4', 'net:layer', 12))
        self.assertEqual(shapes.split_name('2x3:3x4_n"x"'), ('2x3:3x4', 'x', 1))
        self.assertEqual(shapes.split_name('2x3:3x4'), ('2x3:3x4', '', 1))

    def test_matmul_batches_are_broadcast(self):
        problem = shapes.parse_matmul('4x8x128x64:4x1x64x96n"a"')
        self.assertEqual((problem.m, problem.n, problem.k, problem.batch), (128, 96, 64, 32))
        self.assertEqual(problem.line('packed'), 'matmul 128 96 64 0 0 4x8 4x1')

    def test_matmul_text_is_its_descriptor(self):
        for text in ('2x3:3x4', '5x2x3:1x3x4'):
            self.assertEqual(shapes.parse_matmul(text).text, text)

    def test_contradicting_matmul_is_refused(self):
        for text in ('2x3:4x5', '2x3', '2x3:3', '2x3:3x4:2x4'):
            with self.assertRaises(shapes.ShapeError):
                shapes.parse_matmul(text)

    def test_missing_conv_fields_follow_from_the_others(self):
        a = shapes.parse_conv('mb1ic3ih224oc64oh112kh7sh2ph3')
        self.assertEqual((a.size, a.out, a.kernel, a.stride, a.pad),
                         ((1, 224, 224), (1, 112, 112), (1, 7, 7), (1, 2, 2), (0, 3, 3)))
        self.assertEqual(shapes.parse_conv('ic4ih9oc4kh3ph1').out, (1, 9, 9))
        self.assertEqual(shapes.parse_conv('ic4ih9oc4oh9kh3').pad, (0, 1, 1))
        self.assertEqual(shapes.parse_conv('ic4ih9oc4oh9kh3').mb, 2)

    def test_one_and_three_dimensions(self):
        self.assertEqual(shapes.parse_conv('mb1ic2iw9oc3ow7kw3pw0').out, (1, 1, 7))
        volume = shapes.parse_conv('mb1ic2id4ih5iw6oc3kd3kh3kw3pd1ph1pw1')
        self.assertEqual(volume.out, (4, 5, 6))

    def test_unknown_conv_key_is_refused(self):
        with self.assertRaises(shapes.ShapeError):
            shapes.parse_conv('ic3ih4oc3zz4kh1')

    def test_a_descriptor_tells_its_kind(self):
        for text, kind in (('2x3:3x4n"a:b"', 'matmul'), ('mb1ic3ih9oc4oh9kh3ph1n"net:first"', 'conv'),
                           ('relu:mb1c3ih5iw7', 'operation')):
            self.assertEqual((shapes.parse(text)[0], shapes.parse(text)[1].kind), (kind, kind))


class InputFiles(unittest.TestCase):
    """The networks' sums are published: a wrong layer would show."""

    def total(self, operation, name):
        return sum(p.macs * p.count for p in shapes.read_file(operation, name)) / 1e6

    def test_networks_have_their_known_size(self):
        for name, expected_macs in (('resnet_50', 4087), ('mobilenet_v1', 568), ('mobilenet_v2', 299.5),
                                    ('mobilenet_v3_large', 216.6), ('mobilenet_v3_small', 56.5),
                                    ('vgg_16', 15347)):
            self.assertAlmostEqual(self.total('conv', 'shapes_' + name) / expected_macs, 1, 2, name)

    def test_networks_have_their_known_number_of_layers(self):
        for name, layers in (('resnet_50', 53), ('mobilenet_v1', 27), ('mobilenet_v2', 52),
                             ('vgg_16', 13)):
            problems = shapes.read_file('conv', 'shapes_' + name)
            self.assertEqual(sum(p.count for p in problems), layers, name)

    def test_every_problem_is_named_and_consistent(self):
        for operation, file in shapes.all_files():
            names = set()
            for problem in shapes.read_file(operation, file):
                self.assertNotEqual(problem.name, problem.text)
                self.assertNotIn(problem.name, names, file)
                names.add(problem.name)
                self.assertGreater(problem.macs, 0)

    def test_batch_files_name_existing_files(self):
        for operation in ('conv', 'matmul', 'reorder'):
            folder = os.path.join(shapes.INPUTS, operation)
            for file in os.listdir(folder):
                for token in shapes.tokens_of(os.path.join(folder, file)):
                    if token.startswith('--batch='):
                        self.assertTrue(os.path.exists(os.path.join(folder, token[8:])), token)

    def test_unknown_file_is_refused(self):
        with self.assertRaises(shapes.ShapeError):
            shapes.find_file('no_such_file')


class Operations(unittest.TestCase):
    def test_windows_and_work_follow_from_the_descriptor(self):
        problem = shapes.parse_operation('max_pool:mb1c64ih112iw56kh3sh2ph1n"net:pool"')
        self.assertEqual((problem.name, problem.out, problem.macs), ('net:pool', (56, 28), 64 * (112 * 56 + 56 * 28)))
        self.assertEqual(problem.line('nhwc'), 'operation max_pool 1 64 112 56 3 2 1')

    def test_two_sources_are_read_twice(self):
        self.assertEqual(shapes.parse_operation('add:mb2c3ih5iw7').macs, 3 * 210)
        self.assertEqual(shapes.parse_operation('concat:mb2c3ih5iw7').macs, 4 * 210)

    def test_what_is_no_operation_is_refused(self):
        with self.assertRaisesRegex(shapes.ShapeError, 'is not OPERATION'):
            shapes.parse_operation('relu:mb1c3ihxiw5')

    def test_drivers_know_all_operations_of_the_file(self):
        with open('tests/perf/operations.c', encoding='utf-8') as file:
            known = set(re.findall(r'\[OPERATION_\w+\] = "(\w+)"', file.read()))
        problems = shapes.read_file(*shapes.find_file('operations'))
        self.assertEqual({problem.operation for problem in problems}, known)


class Tables(unittest.TestCase):
    def tables(self, files, layout):
        return perf.tables_of(argparse.Namespace(files=files, layout=layout))

    def test_a_file_may_name_its_layout(self):
        (first, second) = self.tables('square:plain,resnet_50', 'packed,nchw')
        self.assertEqual((first[0], first[2]), ('matmul', 'plain'))
        self.assertEqual((second[0], second[2]), ('conv', 'nchw'))

    def test_each_layout_makes_a_table(self):
        self.assertEqual([table[2] for table in self.tables('square', 'packed,plain')],
                         ['packed', 'plain'])

    def test_the_summary_has_the_published_tables(self):
        tables = self.tables('published', '')
        parts = [summary.Part(title, layout, []) for title, (_, _, layout) in
                 zip(summary.titles([table[:2] for table in tables]), tables)]
        rows = summary.by_file(parts, ())
        self.assertEqual(SummaryDocument.titles(), [row[0] for row in rows[1:]])

    def test_the_summary_says_whose_peers_it_is_of(self):
        for root, text, command in (('', "Debian 12's", 'make perf PEERS_ROOT= FILES'),
                                    ('build/peers', "Debian 13's", 'make perf FILES')):
            head = summary.text([summary.Part('x', 'packed', [{'blas': 2.0}])], ('N1',), ('blas',), [['core'], ['N1']], root)
            self.assertIn(f'These are {text}', head)
            self.assertIn(command, head)

    def test_unknown_layouts_libraries_and_threads_are_refused(self):
        for wrong in (lambda: self.tables('square:foo', ''), lambda: self.tables('square', 'nhcw'),
                      lambda: perf.one_library(perf.Drivers('.'), 'mkl'),
                      lambda: perf.libraries(perf.Drivers('no_such_folder'), ()),
                      lambda: perf.numbers_of_threads('4,x'), lambda: perf.numbers_of_threads('0')):
            with self.assertRaises(perf.MeasureError):
                wrong()


class Results(unittest.TestCase):
    """A peer's wrong result is a dash; one of ours ends the measurement."""

    def checked(self, library, error):
        problem = shapes.parse_matmul('8x8:8x8')
        with contextlib.redirect_stderr(io.StringIO()):
            return measure.Measurer.checked(library, problem, model.Figures(error=error))

    def test_small_errors_are_rounding(self):
        self.assertEqual(self.checked('acl', 1e-5).refused, '')

    def test_wrong_results_of_peers_are_left_out(self):
        self.assertIn('wrongly', self.checked('acl', 3).refused)
        self.assertIn('wrongly', self.checked('acl', float('nan')).refused)

    def test_wrong_results_of_ours_are_an_error(self):
        with self.assertRaises(perf.MeasureError):
            self.checked('neoprene', 3)


class Assembly(unittest.TestCase):
    def test_multiply_accumulate_reads_what_it_writes(self):
        operation = isa.parse('fmla v16.4s, v0.4s, v4.s[1]')
        self.assertEqual((operation.kind, operation.writes), ('mac', ('v16',)))
        self.assertIn('v16', operation.reads)

    def test_loads(self):
        pair = isa.parse('ldp q0, q1, [x1], #32')
        self.assertEqual((pair.kind, pair.bytes, pair.writes, pair.based),
                         ('load_vector', 32, ('v0', 'v1'), ('x1',)))
        four = isa.parse('ld1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x1]')
        self.assertEqual((four.bytes, four.based), (64, ()))
        lane = isa.parse('ld1 { v0.s }[2], [x1]')
        self.assertEqual((lane.bytes, lane.reads), (4, ('x1', 'v0')))
        self.assertEqual(isa.parse('ldr x3, [x1, #8]!').based, ('x1',))

    def test_flags_connect_compare_and_branch(self):
        self.assertIn('flags', isa.parse('subs x1, x1, #1').writes)
        self.assertIn('flags', isa.parse('b.ne #-64').reads)
        self.assertNotIn('flags', isa.parse('sub x1, x1, #1').writes)

    def test_equal_blocks_become_equal_text(self):
        self.assertEqual(isa.normalised('b.ne #-1234'), isa.normalised('b.ne #-8'))
        self.assertEqual(isa.normalised('adrp x1, #4096'), isa.normalised('adrp x1, #8192'))
        self.assertEqual(isa.normalised('svc #0'), 'nop')
        self.assertEqual(isa.normalised('add x0, x1, #8'), 'add x0, x1, #8')


def independent(text, count):
    return '\n'.join(text.format(i) for i in range(count))


class InOrder(unittest.TestCase):
    def test_one_multiply_accumulate_a_cycle(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 16)
        for core in inorder.CORES:
            self.assertAlmostEqual(inorder.cycles(block, core), 16)

    def test_a_chain_takes_its_latency(self):
        self.assertAlmostEqual(inorder.cycles('fmla v0.4s, v30.4s, v31.4s', 'a55'), 4)

    def test_a_128_bit_load_blocks_both_slots_for_two_cycles(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 8) + '\nldr q20, [x0]'
        self.assertAlmostEqual(inorder.cycles(block, 'a55'), 10)

    def test_a_64_bit_load_hides_on_a55_but_not_on_a53(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 8) + '\nldr d20, [x0]'
        self.assertAlmostEqual(inorder.cycles(block, 'a55'), 8)
        self.assertAlmostEqual(inorder.cycles(block, 'a53'), 9)

    def test_a_general_load_hides_on_both(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 8) + '\nldr x9, [x0]'
        for core in inorder.CORES:
            self.assertAlmostEqual(inorder.cycles(block, core), 8)


class Ports(unittest.TestCase):
    def test_sixteen_accumulators_fill_four_pipes(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 16)
        self.assertAlmostEqual(ports.cycles(block, 'm1'), 4, 1)

    def test_twelve_accumulators_do_not(self):
        block = independent('fmla v{}.4s, v30.4s, v31.4s', 12)
        self.assertAlmostEqual(ports.cycles(block, 'm1'), 4, 1)

    def test_the_front_end_is_eight_wide(self):
        block = independent('add x{}, x30, #1', 6) + '\n' + independent('ldr x1{}, [x30]', 3) + \
            '\n' + independent('fmla v{}.4s, v30.4s, v31.4s', 4) + '\nstr x29, [x28]\nb #-64\nb #-64'
        self.assertGreaterEqual(ports.cycles(block, 'm1'), 2)

    def test_three_loads_a_cycle(self):
        self.assertAlmostEqual(ports.cycles(independent('ldr q{}, [x0]', 24), 'm1'), 8, 1)

    def test_loads_that_shuffle_take_simd_pipes(self):
        sums = independent('fmla v{}.4s, v30.4s, v31.4s', 16)
        for load, taken in (('ldr q29, [x0]', 4), ('ld1r {v29.4s}, [x0]', 4.25),
                             ('ld1 {v29.s}[2], [x0]', 4.25), ('ld2 {v28.4s, v29.4s}, [x0]', 4.5),
                             ('ld1 {v28.4s, v29.4s}, [x0]', 4), ('st1 {v29.s}[0], [x0]', 4.25),
                             ('st4 {v26.4s, v27.4s, v28.4s, v29.4s}, [x0]', 6)):
            self.assertAlmostEqual(ports.cycles(f'{sums}\n{load}', 'm1'), taken, 1)


class Blocks(unittest.TestCase):
    NOP, BRANCH = 0xD503201F, 0x54FFFFE1

    def test_parts_that_ran_together_are_joined(self):
        region = {(0x1000, 'f', (self.NOP,)): 10, (0x1004, 'f', (self.NOP, self.BRANCH)): 10}
        self.assertEqual(blocks.joined(region), [(10, 'f', (self.NOP, self.NOP, self.BRANCH))])

    def test_what_ran_more_often_is_a_block_too(self):
        region = {(0x1000, 'f', (self.NOP,)): 10, (0x1004, 'f', (self.BRANCH,)): 100}
        self.assertEqual(blocks.joined(region), [(10, 'f', (self.NOP, self.BRANCH)),
                                                 (90, 'f', (self.BRANCH,))])

    def test_a_loop_across_a_page_is_one_block(self):
        """Its first time begins before the loop; both go on in the next page."""
        region = {(0xFF8, 'f', (self.NOP, self.NOP)): 10, (0xFFC, 'f', (self.NOP,)): 360,
                  (0x1000, 'f', (self.NOP, self.BRANCH)): 370}
        self.assertEqual(blocks.joined(region),
                         [(10, 'f', (self.NOP, self.NOP, self.NOP, self.BRANCH)),
                          (360, 'f', (self.NOP, self.NOP, self.BRANCH))])

    def test_what_ran_less_often_is_not_a_part(self):
        region = {(0x1000, 'f', (self.NOP,)): 100, (0x1004, 'f', (self.BRANCH,)): 10}
        self.assertEqual(len(blocks.joined(region)), 2)

    def test_a_branch_ends_a_block(self):
        region = {(0x1000, 'f', (self.BRANCH,)): 10, (0x1004, 'f', (self.BRANCH,)): 10}
        self.assertEqual(len(blocks.joined(region)), 2)

    def test_a_dump_is_read(self):
        with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
            file.write('region 0\nblock 1000 7 f d503201f\nblock 1000 3 f d503201f\nregion 1\n')
            file.flush()
            regions = blocks.read_dump(file.name)
        self.assertEqual([dict(region) for region in regions], [{(0x1000, 'f', (self.NOP,)): 10}, {}])


class Expected(unittest.TestCase):
    def row(self, *counts):
        return expected.Row('neoprene', 'packed', 'matmul', '8x8:8x8', counts)

    def states(self, kind, row, measured):
        return [expected.verdict(kind, row, counts)[0] for counts in measured]

    def test_one_percent_of_instructions_is_tolerated(self):
        self.assertEqual(self.states(expected.INSTRUCTIONS, self.row(1000), [(1010,), (1011,), (990,), (989,)]),
                         ['ok', 'worse', 'ok', 'better'])

    def test_three_percent_and_a_hundred_lines_are_tolerated(self):
        row = self.row(10000, 0)
        self.assertEqual(self.states(expected.LINES, row, [(10400, 100), (10401, 0), (9600, 0), (9599, 0)]),
                         ['ok', 'worse', 'ok', 'better'])

    def test_a_row_is_worse_if_one_level_is(self):
        state, text = expected.verdict(expected.LINES, self.row(10000, 0), (5000, 101))
        self.assertEqual(state, 'worse')
        self.assertIn('L2 0 -> 101', text)
        self.assertNotIn('L1', text)

    def settled(self, first, kind=expected.LINES):
        """What is judged of a row, if arrays that begin elsewhere move 10100, 30000, 10200 and 9900 lines."""
        def count(_, _library, texts):
            l1 = (None, 10100, 30000, 10200, 9900)[int(os.environ['PERF_PLACEMENT'])]
            return [{'counts': {'l1_fills': l1, 'l1_writebacks': 0, 'l2_fills': 0, 'l2_writebacks': 7}} for _ in texts]
        return expected.settled(replace(kind, measure=count), self.row(10000, 0), first, None)

    def test_lines_that_differ_are_judged_by_medians_of_placements(self):
        self.assertEqual(self.settled((20000, 0)), (10200, 7))
        self.assertEqual(self.settled((5000, 0)), (10100, 7))
        self.assertEqual(self.settled((10001, 50)), (10001, 50))
        self.assertEqual(self.settled((20000, 0), replace(expected.LINES, placed=False)), (20000, 0))
        self.assertIsNone(self.settled(None))

    def test_unrecorded_and_refused_rows_are_told_apart(self):
        self.assertEqual(expected.verdict(expected.INSTRUCTIONS, self.row(None), (5,))[0], 'new')
        self.assertEqual(expected.verdict(expected.LINES, self.row(None, None), (5, 0))[0], 'new')
        self.assertEqual(expected.verdict(expected.INSTRUCTIONS, self.row(5), None)[0], 'refused')

    def test_a_row_is_written_as_it_is_read(self):
        for rows in ((self.row(12), self.row(None)), (self.row(12, 0), self.row(None, None))):
            with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
                file.write(f'# comment\n\n{rows[0]}\n{rows[1]}\n')
                file.flush()
                self.assertEqual(expected.read(file.name, len(rows[0].counts)), ['# comment', '', *rows])

    def test_the_files_have_the_columns_that_are_counted(self):
        for kind in expected.KINDS:
            lines_of_file = expected.read(kind.path, len(kind.columns))
            self.assertTrue(any(isinstance(line, expected.Row) for line in lines_of_file), kind.file)


class Report(unittest.TestCase):
    def test_geometric_mean(self):
        self.assertAlmostEqual(report.geometric_mean([1, 4]), 2)
        self.assertEqual(report.geometric_mean([]), 0)

    def test_plots_are_well_formed(self):
        from xml.dom import minidom
        series = [('A & B', [10, None, 300]), ('C', [1, 2, 3])]
        for draw in (svg.curves, svg.bars):
            text = draw('a < b', ['x', 'y', 'z'], series)
            minidom.parseString(text)
            self.assertTrue(re.search('A &amp; B', text))


def figures(cycles):
    return model.Figures(vectors=100, instructions=120, executed=400, cycles={'N1': cycles})


class Summary(unittest.TestCase):
    """Two rows; the first peer is faster on one of them, the second refuses the other."""

    def setUp(self):
        problems = [shapes.parse_matmul('8x8:8x8n"a"'), shapes.parse_matmul('9x9:9x9n"b"')]
        self.report = report.Report(['N1'], ['neoprene', 'blas', 'acl'], False)
        self.section = self.report.add('matmul', 'shapes_x', 'packed', problems, {
            'neoprene': [figures(100), figures(100)], 'blas': [figures(80), figures(400)],
            'acl': [model.Figures(refused='no'), figures(200)]})

    def test_rows_behind_the_best_peer_are_named(self):
        rows = self.report.behind_rows('N1').splitlines()[2:]
        self.assertEqual([row.split('|')[2].strip() for row in rows], ['a `8x8:8x8`'])

    def test_means_are_of_the_rows_that_both_compute(self):
        self.assertEqual(self.report.by_section()[1][2:], ['1.79', '2.00', '1.26', '1'])

    def test_tables_have_as_many_cells_as_columns(self):
        self.assertEqual({len(row) for row in self.report.table(self.section)},
                         {len(self.report.header())})


class SummaryDocument(unittest.TestCase):
    """docs/performance-summary.md, and what README takes from it."""

    @staticmethod
    def table(path, head):
        """Rows of the first table with such a head, as lists of cells."""
        with open(path, encoding='utf-8') as file:
            lines_of_file = file.read().splitlines()
        first = next(i for i, line in enumerate(lines_of_file) if line.startswith('|') and head in line) + 2
        rows = itertools.takewhile(lambda line: line.startswith('|'), lines_of_file[first:])
        return [[cell.strip() for cell in line.strip('|').split('|')] for line in rows]

    @classmethod
    def titles(cls):
        return [row[0] for row in cls.table(os.path.join('docs', 'performance-summary.md'), 'behind')]

    def test_it_is_short(self):
        with open(os.path.join('docs', 'performance-summary.md'), encoding='utf-8') as file:
            self.assertLessEqual(len(file.readlines()), 80)

    def test_readme_has_the_same_figures(self):
        known = {row[0]: row[1:] for row in self.table(os.path.join('docs', 'performance-summary.md'), 'behind')}
        rows = self.table('README.md', 'OpenBLAS')
        self.assertEqual({row[0] for row in rows} - set(summary.TELLING), set())
        for title, *cells in rows:
            self.assertEqual(cells, known[title][1:-1], title)

    def test_means_are_of_rows_that_a_peer_computes(self):
        part = summary.Part('x', 'packed', [{'blas': 2.0, 'acl': 8.0}, {'blas': 0.5}, {}])
        other = summary.Part('y', 'nchw', [{'acl': 3.0}])
        rows = summary.by_file([part, other], ('blas', 'acl'))
        self.assertEqual(rows[1], ['x', '3', '1.00', '8.00', '1.00', '1'])
        self.assertEqual(rows[2][1:], ['1', '–', '3.00', '3.00', '0'])


class Recorded(unittest.TestCase):
    """A peer whose package is not there, and a file in a folder of the test's own."""
    PROBLEM = shapes.parse_matmul('2x3:3x4n"a"')
    FIGURES = model.Figures(vectors=6, instructions=1234567, executed=24, loads=9,
                            cycles=dict(zip(cores.DEFAULT_CORES, (1.5, 2, 3, 4, 123456.7))))
    ABSENT = SimpleNamespace(drivers=SimpleNamespace(has=lambda library: False, root=''), core_names=['N1'])

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, recorded, 'FOLDER', recorded.FOLDER)
        recorded.FOLDER = folder.name

    def write(self, figures, head=recorded.MODELS):
        with open(recorded.path_of('acl'), 'w', encoding='utf-8') as file:
            file.write(f"# {head}\n{self.PROBLEM.line('packed')} = {recorded.text_of(figures)}\n")

    def read(self, layout='packed'):
        return recorded.measure(self.ABSENT, 'acl', [self.PROBLEM], layout)[0]

    def test_figures_are_read_as_they_were_written(self):
        self.write(self.FIGURES)
        figures = self.read()
        self.assertEqual((figures.vectors, figures.executed, figures.loads), (6, 24, 9))
        for read, written in ((figures.instructions, 1234567), *zip(
                figures.cycles.values(), self.FIGURES.cycles.values())):
            self.assertAlmostEqual(read / written, 1, 5)
        self.assertEqual(list(figures.cycles), list(cores.DEFAULT_CORES))

    def test_rows_that_nobody_recorded_are_dashes(self):
        self.write(self.FIGURES)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(self.read('bt').refused, 'not recorded')
            self.write(replace(self.FIGURES, cycles={'A55': 5.0}))
            self.assertEqual(self.read().refused, 'not recorded')
        self.assertEqual(said.getvalue().count('acl is not installed'), 2)

    def test_other_cores_stay_unless_the_packages_are_others(self):
        measurer = SimpleNamespace(
            drivers=SimpleNamespace(path=lambda library: '', root=''), core_names=['A55'],
            measure=lambda *_: [replace(self.FIGURES, cycles={'A55': 7.0})])
        for packages, kept in (('', {'N1': 5.0, 'A55': 7.0}), ('acl 2', {'A55': 7.0})):
            recorded.write('acl', packages, {self.PROBLEM.line('packed'): recorded.text_of(
                replace(self.FIGURES, cycles={'N1': 5.0}))})
            recorded.record(measurer, 'acl', [self.PROBLEM], 'packed')
            text = recorded.read('acl')[self.PROBLEM.line('packed')]
            self.assertEqual(recorded.figures_of(text, self.PROBLEM).cycles, kept)

    def test_cores_that_were_not_counted_have_no_ratio(self):
        self.write(replace(self.FIGURES, cycles={'N1': 5.0}))
        theirs, document = self.read(), report.Report(['N1', 'A55'], ['neoprene', 'acl'], False)
        self.assertEqual(theirs.cycles, {'N1': 5.0})
        self.assertEqual([document.ratio(self.FIGURES, theirs, core) for core in ('N1', 'A55')], [5 / 1.5, 0])

    def test_unpacked_peers_have_files_of_their_own(self):
        self.write(self.FIGURES)
        recorded.write('acl', 'acl 3', {'problem': '1 2 3 4'}, 'build/peers')
        self.assertEqual((list(recorded.read('acl')), recorded.read('acl', 'build/peers')),
                         ([self.PROBLEM.line('packed')], {'problem': '1 2 3 4'}))
        self.assertEqual(recorded.names(), ['acl'])

    def test_recording_keeps_rows_of_the_same_peers(self):
        measurer = SimpleNamespace(
            drivers=SimpleNamespace(path=lambda library: 'none', root='build/peers'), core_names=['N1'],
            measure=lambda *_: [self.FIGURES])
        self.addCleanup(setattr, recorded, 'packages_of', recorded.packages_of)
        recorded.packages_of = lambda driver, root: 'acl 3'
        recorded.write('acl', 'acl 3', {'installed': '1 2 3 4'})
        recorded.write('acl', 'acl 3', {'unpacked': '1 2 3 4'}, 'build/peers')
        recorded.record(measurer, 'acl', [self.PROBLEM], 'packed')
        self.assertEqual(set(recorded.read('acl', 'build/peers')), {'unpacked', self.PROBLEM.line('packed')})
        self.assertEqual(set(recorded.read('acl')), {'installed'})

    def test_figures_of_other_types_are_kept_apart(self):
        f32 = recorded.key_of(self.PROBLEM, 'packed')
        with emulator.asking('PERF_TYPES', 's8:s8:s8'):
            self.assertEqual(recorded.key_of(self.PROBLEM, 'packed'), f32 + ' PERF_TYPES=s8:s8:s8')

    def test_a_refusal_keeps_its_reason(self):
        self.write(model.Figures(refused='no = such\n layout'))
        self.assertEqual(self.read().refused, 'no = such layout')

    def test_cycles_of_other_models_are_refused(self):
        self.write(self.FIGURES, recorded.MODELS.replace('ports-', 'ports-0'))
        with self.assertRaisesRegex(emulator.MeasureError, 'other models'):
            self.read()


class Lines(unittest.TestCase):
    def test_arrays_that_stay_in_the_cache_need_not_come(self):
        small = shapes.parse_matmul('64x64:64x64')
        self.assertEqual(lines.bound(small, 'l1'), 0)
        large = shapes.parse_matmul('512x512:512x512')
        self.assertEqual(lines.compulsory(large, lines.CACHE['l2']), 4 * 512 * 512 / 16)
        self.assertEqual(lines.compulsory(shapes.parse_matmul('2x10:10x3'), 10), (20 + 30 + 12) / 16)

    def test_blocks_of_the_result_bound_a_product(self):
        cube = shapes.parse_matmul('1024x1024:1024x1024')
        self.assertEqual(lines.bound(cube, 'l1'), (2 * 2 ** 30 / 128 - 2 * 2 ** 14) / 16)

    def test_pixels_are_used_for_each_tap(self):
        pointwise = shapes.parse_conv('mb1ic64ih56oc64oh56kh1ph0')
        square = shapes.parse_conv('mb1ic64ih56oc64oh56kh3ph1')
        self.assertEqual((lines.reuse(pointwise), lines.reuse(square)), (1, 9))
        self.assertEqual(lines.reuse(shapes.parse_conv('mb1ic64ih56oc64oh28kh1sh2ph0')), 1)
        self.assertEqual(lines.arrays(square), (64 * 56 * 56, 64 * 64 * 9, 64 * 56 * 56))

    def row(self, ours, theirs):
        problem = shapes.parse_matmul('512x512:512x512')
        return lines.Row(problem, {'neoprene': {'l1': ours, 'l2': ours},
                                   'blas': {'l1': theirs, 'l2': theirs}})

    def test_rows_behind_a_peer_are_named(self):
        text = lines.summary([self.row(80000, 70000)])
        self.assertIn('on 1 of 1 rows (ours/theirs, in thousands): 512x512:512x512 80/70.', text)
        self.assertIn('forbids Winograd, on 1 of these: 512x512:512x512 80/70.', text)
        text = lines.summary([self.row(70500, 70000)])
        self.assertIn('on 0 of 1 rows (ours/theirs, in thousands).', text)

    def test_rows_that_winograd_puts_behind_are_not_named_twice(self):
        row = self.row(80000, 70000)
        row.direct = {'l1': 60000, 'l2': 75000}
        text = lines.summary([row])
        self.assertIn('forbids Winograd, on 0 of these.', text)
        self.assertIn('forbids Winograd, on 1 of these: 512x512:512x512 75/70.', text)

    def test_the_fewest_lines_of_a_peer_are_recorded(self):
        row = lines.Row(shapes.parse_matmul('512x512:512x512'), {
            'neoprene': {'l1': 80000, 'l2': 2000}, 'blas': {'l1': 70000, 'l2': 3456},
            'acl': {'l1': 71000, 'l2': 1234}, 'blis': {'l1': 90000, 'l2': 9000}})
        with tempfile.NamedTemporaryFile('w') as file:
            lines.record([row], file.name)
            lines.record([row], file.name)
            known = lines.recorded(('blas', 'acl', 'blis'), file.name)
        self.assertEqual(known, {row.problem.text: {'blas': {'l1': 70000, 'l2': math.inf},
                                                    'acl': {'l1': math.inf, 'l2': 1234}}})
        again, = lines.count(self.Measurer({'neoprene': (1000,)}), ['neoprene'], [row.problem], 'packed', known)
        self.assertEqual(again.best_peer('l1'), ('blas', 70000))

    class Measurer:
        """One that finds so many lines of each library, for each placement of arrays."""
        core_names = ('N1',)

        def __init__(self, counts):
            self.counts, self.asked = counts, []

        def count(self, library, _, texts, plugin):
            placement = int(os.environ.get('PERF_PLACEMENT', 0))
            direct = 'direct ' * ('PERF_DIRECT' in os.environ)
            self.asked += [(direct + library, placement)] * len(texts)
            return [{'counts': {f'{level}_{what}': self.counts[direct + library][placement] // 2
                                for level in lines.LEVELS for what in ('fills', 'writebacks')}}
                    for _ in texts] if plugin == 'cachesim' else None

    def counted(self, problem, **counts):
        """The row of a problem, and what was asked for at other placements."""
        counts = {name.replace('_', ' '): each for name, each in counts.items()}
        measurer = self.Measurer(counts)
        libraries = [name for name in counts if ' ' not in name]
        row, = lines.count(measurer, libraries, [problem], 'packed')
        return row, {name for name, placement in measurer.asked if placement}

    def test_rows_behind_are_counted_at_other_placements(self):
        problem = shapes.parse_matmul('512x512:512x512')
        row, asked = self.counted(problem, neoprene=(90000, 40000, 50000, 46000, 60000),
                                  blas=(30000, 80000, 48000, 49000, 47000), acl=(95000,))
        self.assertEqual((row.moved['neoprene']['l1'], row.moved['blas']['l2']), (50000, 48000))
        self.assertEqual(asked, {'neoprene', 'blas'})
        self.assertEqual(row.moved['acl']['l1'], 95000)
        self.assertFalse(row.is_behind('l1'))
        self.assertNotIn('PERF_PLACEMENT', os.environ)
        row, asked = self.counted(problem, neoprene=(30000,), blas=(90000,))
        self.assertEqual((row.moved['neoprene']['l1'], asked), (30000, set()))

    def test_rows_that_winograd_puts_behind_are_counted_once(self):
        problem = shapes.parse_conv('mb1ic64ih56oc64oh56kh3ph1')
        _, asked = self.counted(problem, neoprene=(90000,), direct_neoprene=(50000,), xnnpack=(50000,))
        self.assertEqual(asked, set())
        row, asked = self.counted(problem, neoprene=(90000,) * 5, xnnpack=(40000,) * 5,
                                  direct_neoprene=(50000, 30000, 34000, 36000, 38000))
        self.assertEqual(asked, {'neoprene', 'direct neoprene', 'xnnpack'})
        self.assertEqual((row.moved['neoprene']['l1'], row.direct['l1']), (90000, 36000))
        self.assertTrue(row.is_behind('l1'))
        self.assertFalse(row.is_behind('l1', direct=True))

    def test_rows_beyond_the_bound_are_named(self):
        text = lines.summary([self.row(131072, 0)])
        self.assertIn('more than 1.3 times of it on 1 of 1 rows with a bound of 1000 lines or more; '
                      'the geometric mean is 2.00: 512x512:512x512 2.0.', text)

    def test_tables_have_as_many_cells_as_columns(self):
        row = self.row(5, 6)
        self.assertEqual(len(row.cells()), len(lines.HEADER))
        row.moved.pop('blas')
        self.assertEqual(len(row.cells()), len(lines.HEADER))


class Guests(unittest.TestCase):
    def test_counts_at_another_placement_are_kept_apart(self):
        emulated = emulator.Emulator(None, 'kept')
        emulated.digests['driver', 'cachesim'] = 'same'
        path = emulated.path_of('driver', 'neoverse-n1', 'cachesim', '', 'matmul')
        with emulator.asking('PERF_PLACEMENT', 1):
            self.assertNotEqual(emulated.path_of('driver', 'neoverse-n1', 'cachesim', '', 'matmul'), path)

    def test_a_guest_that_only_we_can_tell_is_counted_once_for_peers(self):
        guest_of = emulator.Emulator.guest_of
        self.assertEqual(guest_of('x/driver_blas', 'cortex-a510'), 'neoverse-n1')
        self.assertEqual(guest_of('x/driver_neoprene', 'cortex-a510'), 'cortex-a510')
        self.assertEqual(guest_of('x/driver_blas', 'm1-firestorm'), 'neoverse-n1')
        self.assertEqual(guest_of('x/driver_blas', 'cortex-a55'), 'cortex-a53')
        self.assertEqual(guest_of('x/driver_neoprene', 'cortex-a55'), 'cortex-a55')
        self.assertEqual(guest_of('x/driver_blas', 'cortex-a53'), 'cortex-a53')

    def test_peers_of_other_types_see_a_cpu_that_has_their_instructions(self):
        guest_of = emulator.Emulator.guest_of
        with emulator.asking('PERF_TYPES', 's8:s8:s8'):
            self.assertEqual(guest_of('x/driver_acl', 'neoverse-v2'), 'neoverse-n2')
            self.assertEqual(emulator.model_of('neoverse-n2'), emulator.NEWEST)
            self.assertEqual(guest_of('x/driver_acl', 'neoverse-n1'), 'neoverse-n1')
            self.assertEqual(guest_of('x/driver_acl', 'cortex-a55'), 'cortex-a55')
            self.assertEqual(emulator.model_of('cortex-a55'), emulator.LITTLE)
            self.assertEqual(emulator.model_of('cortex-a53'), 'cortex-a53')

    def test_a_driver_that_stops_has_the_last_word(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, emulator.ERRORS), 'w', encoding='utf-8') as file:
                file.write('noise\nacl: no tensor\n\n')
            process = SimpleNamespace(stdout=io.StringIO(''), wait=lambda: 1)
            with self.assertRaisesRegex(emulator.MeasureError, r"stopped at the problem 'p' .*status 1\): acl: no tensor$"):
                emulator.Emulator.answer(process, 'driver_acl', 'p', folder)

    def test_every_core_has_a_guest_of_its_own(self):
        guests = [core.guest for core in cores.CORES.values()]
        self.assertEqual(len(set(guests)), len(guests))
        self.assertLessEqual(set(guests), set(emulator.GUESTS))


class Unpacked(unittest.TestCase):
    """A folder with one package, of which a driver needs a library."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, 'peers')
        self.library = os.path.join(self.root, unpacked.LIBRARIES, 'libpeer.so.1')
        for path, text in ((self.library, ''), (os.path.join(self.root, '.unpacked', 'complete'), 'libpeer1'),
                           (os.path.join(self.root, '.unpacked', 'libpeer1_1%3a2.3-4_arm64.deb'),
                            f'./\n./{unpacked.LIBRARIES}/libpeer.so.1\n')):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)

    def test_a_library_is_of_the_package_that_has_it(self):
        self.assertEqual(unpacked.package_of(self.root, self.library), 'libpeer1 2.3-4')
        self.assertEqual(unpacked.package_of(self.root, self.library + '.5'), '')

    def test_a_link_leads_to_the_library(self):
        os.symlink('libpeer.so.1', self.library[:-2])
        self.assertEqual(unpacked.library_path(self.root, 'libpeer.so'), os.path.realpath(self.library))

    def test_programs_see_one_core_of_the_emulated_kind(self):
        for _ in range(2):  # it may be there
            machine = unpacked.machine(self.root, 'cortex-a53')
        with open(os.path.join(machine, 'proc', 'cpuinfo'), encoding='utf-8') as file:
            facts = dict(map(str.strip, line.split(':', 1)) for line in file if ':' in line)
        self.assertEqual((facts['processor'], facts['CPU implementer'], facts['CPU part']), ('0', '0x41', '0xd03'))
        self.assertTrue(os.path.exists(os.path.join(machine, unpacked.LIBRARIES, 'libpeer.so.1')))

    def test_only_peers_run_there(self):
        emulated = emulator.Emulator('qemu', 'kept', self.root)
        self.assertEqual(emulated.command('x/driver_neoprene', 'neoverse-n1'), ['qemu', '-cpu', 'neoverse-n1'])
        self.assertEqual(emulated.command('x/driver_blas', emulator.NEWEST),
                         ['qemu', '-cpu', emulator.NEWEST, '-L', unpacked.machine(self.root, 'neoverse-n2')])
        self.assertEqual(emulated.command('x/driver_blas', emulator.LITTLE),
                         ['qemu', '-cpu', emulator.LITTLE, '-L', unpacked.machine(self.root, 'cortex-a55')])

    def test_peers_have_drivers_of_their_own_for_what_is_unpacked(self):
        drivers = measure.Drivers('x', self.root)
        self.assertEqual([drivers.path('neoprene'), drivers.path('acl'), measure.Drivers('x').path('acl')],
                         ['x/driver_neoprene', 'x/unpacked/driver_acl', 'x/installed/driver_acl'])


    def packages(self, driver, *libraries):
        self.addCleanup(setattr, emulator, 'loaded_libraries', emulator.loaded_libraries)
        emulator.loaded_libraries = lambda program, root: libraries
        return recorded.packages_of(driver, self.root)

    def test_versions_are_those_of_loaded_libraries(self):
        self.assertEqual(self.packages('x/unpacked/driver_peer', self.library, self.library), 'libpeer1 2.3-4')

    def test_a_library_inside_of_the_driver_has_a_version(self):
        with open(os.path.join(self.root, '.unpacked', 'libinside-dev_1.8-1_arm64.deb'), 'w', encoding='utf-8') as file:
            file.write(f'./{unpacked.LIBRARIES}/libinside.a\n')
        self.assertEqual(self.packages('x/unpacked/driver_inside'), 'libinside-dev 1.8-1')


class TypeOptions(unittest.TestCase):
    """Other types are asked for by options, which become drivers' variables."""

    @staticmethod
    def asked(*options):
        parser = argparse.ArgumentParser()
        emulator.add_type_options(parser)
        return emulator.types_asked(parser.parse_args(options))

    def test_options_become_variables(self):
        self.assertEqual(self.asked(), {})
        self.assertEqual(self.asked('--types', 'f32:s8:f32', '--group-rows', '0'),
                         {'PERF_TYPES': 'f32:s8:f32', 'PERF_GROUP': '0'})
        self.assertEqual(self.asked('--fpmath=bf16', '--accumulation=f16', '--dst-scale'),
                         {'PERF_FPMATH': 'bf16', 'PERF_ACCUMULATION': 'f16', 'PERF_DST_SCALE': 1})

    def test_every_variable_tells_counts_apart(self):
        self.assertLessEqual(set(self.asked('--types=a', '--group-rows=1', '--fpmath=b', '--accumulation=c', '--dst-scale')),
                             set(emulator.ASKED))

    def test_what_was_asked_for_before_is_asked_for_again(self):
        with emulator.asking('PERF_GROUP', 8):
            with emulator.asking_all({'PERF_GROUP': 16, 'PERF_FPMATH': 'bf16'}):
                self.assertEqual((os.environ['PERF_GROUP'], os.environ['PERF_FPMATH']), ('16', 'bf16'))
            self.assertEqual((os.environ['PERF_GROUP'], os.environ.get('PERF_FPMATH')), ('8', None))
        self.assertNotIn('PERF_GROUP', os.environ)


class Ratios(unittest.TestCase):
    """f32 takes 100 and 300 cycles, s8 50 and 75."""
    PROBLEMS = [shapes.parse_matmul('8x8:8x8n"a"'), shapes.parse_matmul('9x9:9x9n"b"')]

    class Measurer:
        core_names, refused = ('N1',), ''

        def __init__(self):
            self.asked = []

        def measure(self, library, problems, layout):
            self.asked.append({name: os.environ[name] for name in emulator.ASKED if name in os.environ})
            cycles = (50, 75) if os.environ.get('PERF_TYPES') == 's8:s8:s8' else (100, 300)
            return [replace(figures(count), refused=self.refused) for count, _ in zip(cycles, problems)]

    def test_ratios_are_of_f32_over_the_other_type(self):
        measurer = self.Measurer()
        found = ratios.ratios_of(measurer, {'PERF_TYPES': 's8:s8:s8', 'PERF_GROUP': '0'}, self.PROBLEMS, 'packed')
        self.assertEqual(found, {'N1': [2, 4]})
        self.assertEqual(measurer.asked, [{'PERF_DIRECT': '1'},
                                          {'PERF_DIRECT': '1', 'PERF_TYPES': 's8:s8:s8', 'PERF_GROUP': '0'}])

    def test_a_table_ends_with_the_mean(self):
        rows = '\n'.join(ratios.table('title', self.PROBLEMS, {'N1': [2, 4]})).splitlines()
        self.assertEqual([row.split()[-1] for row in rows if row], ['title', 'N1', '2.00', '4.00', '2.83'])

    def test_what_is_refused_has_no_ratio(self):
        measurer = self.Measurer()
        measurer.refused = 'no such types'
        with self.assertRaisesRegex(emulator.MeasureError, 'no such types'):
            ratios.ratios_of(measurer, {'PERF_TYPES': 's8:s8:s8'}, self.PROBLEMS, 'packed')

    def test_variables_that_f32_would_see_are_refused(self):
        with emulator.asking('PERF_GROUP', 32), self.assertRaisesRegex(emulator.MeasureError, 'PERF_GROUP is in the env'):
            ratios.publish(self.Measurer(), [], {'PERF_TYPES': 's8:s8:s8'})


class Cycles(unittest.TestCase):
    """A simulator that is not there: what it is asked for, and what is made of its answers."""
    ARGS = SimpleNamespace(gem5='gem5', driver='cycles.py', peer={'blas': 'shapes.py'}, warm=False, layout='bt',
                           implementations='gemm,winograd_2', problem='8x8:8x8', files=None,
                           cores=list(cycles.CORES.values()))

    class Executed:
        """The choice is the product; nothing else is known but its name."""

        @staticmethod
        def signature(run):
            return None if run.implementation == '9' else run.implementation.replace('0', 'gemm')

    def setUp(self):
        here = os.path.dirname(os.path.abspath(__file__))
        args = replace_paths(self.ARGS, here)
        self.simulator = cycles.Simulator(args, self.Executed())
        (self.kind, self.problem), = cycles.problems_of(args)
        self.runs, self.others = (cycles.runs_of(args, core, self.kind, self.problem, 'board') for core in args.cores)

    def test_each_core_is_a_machine_of_its_own(self):
        for runs, core in ((self.runs, 'neoverse_n1'), (self.others, 'cortex_a55')):
            command = self.simulator.command(runs[0], '/folder/line')
            self.assertTrue(os.path.exists(command[4]))
            self.assertEqual(os.path.basename(command[4]), core + '.py')
            self.assertIn('--set=NEOPRENE_CPU_CORE=' + core.replace('_', '-'), command)

    def test_the_choice_comes_first_and_peers_last(self):
        self.assertEqual([run.implementation for run in self.runs], ['0', 'gemm', 'winograd_2', '0'])
        self.assertEqual([os.path.basename(run.driver) for run in self.runs], ['cycles.py'] * 3 + ['shapes.py'])
        self.assertEqual(self.runs[0].line, self.problem.line('bt'))

    def test_the_program_is_told_what_is_asked_for(self):
        with emulator.asking_all({'PERF_TYPES': 'f32:s8:f32', 'PERF_GROUP': '0'}):
            command = self.simulator.command(self.runs[1], 'folder/problem')
        for word in ('--set=PERF_IMPLEMENTATION=gemm', '--set=PERF_TYPES=f32:s8:f32', '--set=PERF_GROUP=0',
                     '--set=NEOPRENE_BANDWIDTH=9', '--memory=board', '--cycles'):
            self.assertIn(word, command)

    def simulated(self, settings):
        """Of each setting, (variables, runs), what the simulator was asked for."""
        self.addCleanup(setattr, cycles, 'CACHE', cycles.CACHE)
        asked = []

        def simulate(run, path):
            asked[-1].append(run.implementation)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('ok 0 1 gemm 2')
        self.simulator.simulate = simulate
        with tempfile.TemporaryDirectory() as cycles.CACHE:
            for variables, runs in settings:
                asked.append([])
                with emulator.asking_all(variables):
                    self.simulator.run_all(runs)
        return asked

    def test_times_of_other_types_are_kept_apart(self):
        first = self.runs[1:2]
        self.assertEqual(self.simulated([({}, first), ({}, first), ({'PERF_GROUP': '16'}, first),
                                         ({'PERF_FPMATH': '16'}, first)]), [['gemm'], [], ['gemm'], ['gemm']])

    def test_what_executes_the_same_is_simulated_once(self):
        self.assertEqual(self.simulated([({}, self.runs[:3]), ({}, self.others[1:2])]),
                         [['gemm', 'winograd_2'], ['gemm']])

    def test_what_is_not_there_is_not_simulated(self):
        missing = replace(self.runs[0], implementation='9')
        self.assertEqual(self.simulated([({}, [missing])]), [[]])
        self.assertIsNone(cycles.time_of(self.simulator.run_all([missing])[0]))

    def test_a_signature_is_of_instructions_wherever_they_are(self):
        call, back, adrp, add = 0x94000010, 0xd65f03c0, 0xb0000001, 0x91004021

        def signature(words, runs=1000):
            return cycles.signature_of([[runs, 'kernel', words], [1, 'once', [add, back]]], 0.998)
        same = signature([adrp, add, call, back])
        self.assertEqual(same, signature([0xf0000ce1, add, 0x97fffff1, back]))
        self.assertNotEqual(same, signature([adrp, 0x91004421, call, back]))
        self.assertNotEqual(same, signature([adrp, add, call, back], 1001))
        self.assertEqual(same, cycles.signature_of([[1000, 'moved', [adrp, add, call, back]], [1, 'once', [back]]], 0.998))

    def test_answers_become_a_row(self):
        self.assertIsNone(cycles.time_of('refused no such types'))
        chosen, best = (cycles.time_of(f'ok 0 {ns} {name} 9000') for ns, name in ((2000, 'gemm'), (1000, 'winograd_2')))
        problem = shapes.parse_matmul('10x20:20x100')
        self.assertEqual(cycles.row(cycles.CORES['N1'], problem, 'board', [chosen, best], [None, best]),
                         '| 10x20:20x100 | board | gemm | 2.0 | 50.0 | 4.50 | winograd_2 1.0 | 2.000 | – | 1.0 |')


class FarChoices(unittest.TestCase):
    """perf-choices on the simulator: the first one is the choice, the last one the reference."""

    class Simulator:
        driver = 'driver'

        def __init__(self, nanoseconds):
            self.nanoseconds = nanoseconds

        def run_all(self, runs):
            found = [f'ok 0 {time} way_{index} 9000' for index, time in enumerate(self.nanoseconds)]
            return found + ['refused there are no more'] * (len(runs) - len(found))

    def wrong(self, *nanoseconds):
        with contextlib.redirect_stdout(io.StringIO()):
            return choices.compare_far(self.Simulator(nanoseconds), cycles.CORES['N1'])

    def test_a_choice_may_be_so_much_slower_than_the_best(self):
        rows = len(choices.FAR) * len(cycles.BANDWIDTHS)
        self.assertEqual(self.wrong(1040, 1000, 10), 0)
        self.assertEqual(self.wrong(1060, 1000, 10), rows)
        self.assertEqual(self.wrong(1060), 0)

    def test_without_a_simulator_nothing_is_wrong(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(choices.far_choices(SimpleNamespace(gem5='no-such-gem5'), 'N1'), 0)
            self.assertEqual(choices.far_choices(SimpleNamespace(gem5='no-such-gem5'), 'V2'), 0)
        self.assertIn('no-such-gem5', said.getvalue())
        self.assertIn('a simulated V2', said.getvalue())


def replace_paths(args, folder):
    """The arguments with programs that are files: tools of this folder."""
    paths = {name: os.path.join(folder, path) for name, path in args.peer.items()}
    return SimpleNamespace(**{**vars(args), 'driver': os.path.join(folder, args.driver), 'peer': paths})


class Excess(unittest.TestCase):
    def test_reasons(self):
        product = shapes.parse_matmul('5x7:7x6')
        self.assertIn('columns', excess.reason(product, 8 / 6))
        self.assertIn('rows', excess.reason(product, 8 / 5))
        self.assertIn('steps', excess.reason(product, 8 / 7))
        self.assertIn('more than one', excess.reason(product, 1.05))
        image = shapes.parse_conv('g2mb1ic8ih5oc12oh5kh1ph0')
        self.assertIn('output channels of a group', excess.reason(image, 8 / 6))
        self.assertIn('output width', excess.reason(image, 8 / 5))

    def test_fewer_products_have_a_price(self):
        self.assertEqual(excess.fewer([1.3, 1.0, 1.1], [100, 200, 150]),
                         '1.100 in 1.50 times the cycles')
        self.assertEqual(excess.fewer([1.3, 1.3, 1.5], [100, 90, 80]), 'no implementation has fewer')


class Layouts(unittest.TestCase):
    ROWS = [layouts.Row(shapes.parse_conv(text), 1000.0, first) for text, first in
            (('g8mb1ic8ih9oc8oh9kh3ph1n"a"', 1300.0), ('mb1ic8ih9oc8oh9kh1ph0n"b"', 1100.0),
             ('mb1ic8ih9oc8oh9kh3ph1n"c"', 500.0), ('mb1ic8ih9oc8oh9kh1ph0n"d"', 2000.0))]

    def test_rows_above_the_goal_are_named_the_slowest_first(self):
        text = layouts.behind_table(self.ROWS).splitlines()[2:]
        self.assertEqual([line.split('|')[1].split()[0] for line in text], ['d', 'a'])
        self.assertIn('| 1 | 1.3 | 1.30 |', text[1])

    def test_summary_counts_by_kind(self):
        text = layouts.summary(self.ROWS)
        self.assertIn('2 of 4 rows take more than 1.1 times as long; the geometric mean of all is 1.094.', text)
        self.assertIn('| depthwise | 1 | 1.300 | 1 |', text)
        self.assertIn('| 1x1 | 2 | 1.483 | 1 |', text)
        self.assertIn('| 3x3 of stride 1 | 1 | 0.500 | 0 |', text)


class Hardware(unittest.TestCase):
    def test_counted_events_are_explained(self):
        machine = hardware.Machine.parse('peak 6 clock 3 events yes\n')
        self.assertEqual((machine.peak, machine.clock, machine.refusal), (6, 3, ''))
        self.assertIn('48.0 GFLOP/s', machine.text)
        self.assertIn('2.00 of four floats a cycle', machine.text)

    def test_denied_events_are_a_sentence(self):
        machine = hardware.Machine.parse('peak 6 clock 3 events no: the kernel does not permit it\n')
        self.assertIn('not counted: the kernel does not permit it.', machine.text)

    def test_another_first_line_is_refused(self):
        with self.assertRaises(hardware.MeasureError):
            hardware.Machine.parse('matmul?\n')

    def test_what_is_not_counted_is_a_dash(self):
        problem = shapes.parse_matmul('8x8:8x8')
        counted = hardware.Sample(problem, '100 300 256 0 12'.split())
        self.assertEqual(counted.cells(2.56), ['0.1', '10.2', '50.0', '2.344', '2.000', '–', '93.8'])


if __name__ == '__main__':
    unittest.main()
