# Neoprene. `make help` lists the targets and the variables.
#
# One Makefile for three kinds of build:
#   TARGET=aarch64   native on AArch64; elsewhere the Debian cross compiler, programs run by qemu-aarch64
#   TARGET=portable  reference kernels only, any CPU, runs natively (sanitizers, valgrind, other machines)
-include config.mk

VERSION := $(shell sed -n 's/^\#define NEO_VERSION_[MP][A-Z]* //p' include/neoprene/types.h | paste -sd.)
SOVERSION := 0
HOST := $(shell uname -m)
IS_ARM_HOST := $(filter aarch64 arm64,$(HOST))
TARGET ?= $(if $(IS_ARM_HOST)$(filter x86_64,$(HOST)),aarch64,portable)
ifeq ($(filter $(TARGET),aarch64 portable),)
$(error TARGET is '$(TARGET)'; it can be aarch64 or portable)
endif

# ---- tools ---------------------------------------------------------------------------------------
CROSS := $(if $(filter aarch64,$(TARGET)),$(if $(IS_ARM_HOST),,yes))
CROSS_COMPILE ?= $(if $(CROSS),aarch64-linux-gnu-)
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
IS_CLANG := $(findstring clang,$(notdir $(firstword $(CC))))
OBJCOPY ?= $(CROSS_COMPILE)objcopy
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
NM ?= $(CROSS_COMPILE)nm
OBJDUMP ?= $(CROSS_COMPILE)objdump
EMULATOR ?= $(if $(CROSS),qemu-aarch64 -cpu $(EMULATED_CPU))
EMULATED_CPU ?= max
PYTHON ?= python3
comma := ,
empty :=
space := $(empty) $(empty)

# ---- flags ---------------------------------------------------------------------------------------
# One build folder for every set of flags: the names come first, so that two kinds never share objects.
CC_NAME := $(if $(IS_CLANG),clang,gcc)
BUILD := build/$(TARGET)-$(CC_NAME)$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(DEBUG)),-debug)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
    -Wundef -Wvla -Wcast-qual -Wcast-align -Wwrite-strings -Wdouble-promotion
WERROR ?= $(if $(CI),-Werror)
OPT ?= $(if $(filter 1,$(DEBUG)),-O0,-O2)
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
TARGET_FLAGS := $(if $(CROSS),$(if $(IS_CLANG),--target=aarch64-linux-gnu)) \
    $(if $(filter portable,$(TARGET)),-DNEO_PORTABLE=1,-DNEO_PORTABLE=0)
CFLAGS ?= -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) -ffp-contract=off -fPIC -fvisibility=hidden -pthread -MMD -MP \
    $(WARNINGS) $(WERROR) $(TARGET_FLAGS) $(SAN_FLAGS) -Iinclude -I. $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(TARGET_FLAGS) $(SAN_FLAGS) -pthread $(LDFLAGS)
LIBS := -lnuma -lm -ldl
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(patsubst $(BUILD)/%,%,$(2));)

# ---- sources: a kernel file's last word is its instruction set -------------------------------------
ISA_neon :=
ISA_fp16 := -march=armv8.2-a+fp16
ISA_dotprod := -march=armv8.2-a+dotprod
ISA_bf16 := -march=armv8.2-a+fp16+bf16
ISA_i8mm := -march=armv8.2-a+fp16+dotprod+i8mm
ISA_ref := -fno-tree-vectorize
ARM_ISAS := neon fp16 dotprod bf16 i8mm
sources_in = $(sort $(shell find $(1) -name '*.[cS]'))
KERNELS_ALL := $(call sources_in,kernels)
KERNELS_ARM := $(foreach isa,$(ARM_ISAS),$(filter %_$(isa).c %_$(isa).S %/$(isa).c %/$(isa).S,$(KERNELS_ALL)))
KERNELS := $(if $(filter portable,$(TARGET)),$(filter-out $(KERNELS_ARM),$(KERNELS_ALL)),$(KERNELS_ALL))
LIB_SRC := $(call sources_in,arch src) $(KERNELS)
LIB_OBJ := $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(LIB_SRC))))
# The other folders of tests/ have parts of programs, or programs of their own kind.
TEST_SRC := $(filter-out $(addprefix tests/,support/% fuzz/% perf/% bench/%),$(wildcard tests/*/*.c))
# gcc's OpenMP only, and its library has no annotations for the thread sanitizer.
ifneq ($(IS_CLANG)$(findstring thread,$(SAN)),)
TEST_SRC := $(filter-out tests/threading/openmp.c,$(TEST_SRC))
endif
TESTS := $(patsubst tests/%.c,%,$(TEST_SRC))
TEST_PROGRAMS = $(addprefix $(BUILD)/tests/,$(TESTS))
SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c tests/fuzz/*.c))
BENCHDNN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard benchdnn/*.c benchdnn/*/*.c))
TOOLS := $(patsubst tools/%.c,$(BUILD)/tools/%,$(wildcard tools/*.c))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
LIB_A := $(BUILD)/libneoprene.a
LIB_SO := $(BUILD)/libneoprene.so.$(VERSION)
INTERNAL_A := $(BUILD)/libneoprene-internal.a

.PHONY: all help packages
.SECONDARY:
all: $(LIB_A) $(LIB_SO) $(if $(BENCHDNN_OBJ),$(BUILD)/benchdnn/benchdnn) $(TOOLS) $(EXAMPLES) ## libraries, benchdnn, tools, examples

help: ## this text
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
	@echo '  TARGET=aarch64|portable  CC=gcc|clang  SAN=address,undefined|thread  V=1  DEBUG=1  WERROR=-Werror'
	@echo '  CROSS_COMPILE=  EMULATOR=  EMULATED_CPU=cortex-a53|neoverse-n1|max  PREFIX=  DESTDIR=  (or in config.mk)'

packages: ## install what is missing (Debian; DRY_RUN=1 only prints it)
	$(Q).ci/install-packages $(if $(DRY_RUN),--dry-run)

# ---- compile and link ----------------------------------------------------------------------------
# The stamp holds the whole command; it changes only when the flags do, and then everything rebuilds.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' > $@
.PHONY: FORCE

isa_of = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $(1))))))
$(BUILD)/kernels/%.o: kernels/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) -c -o $@ $<
$(BUILD)/kernels/%.o: kernels/%.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) -c -o $@ $<
# Descriptors are compared by pairs of words, which clang would put into vectors and take out of them again.
$(BUILD)/src/%.o: private CFLAGS += $(if $(IS_CLANG),-fno-slp-vectorize)
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Hidden symbols become local in the static library too, so that only neo_* can clash with a user's.
$(BUILD)/neoprene.o: $(LIB_OBJ)
	$(call say,LD,$@)$(CC) $(TARGET_FLAGS) -nostdlib -r -o $@ $^ && $(OBJCOPY) --localize-hidden $@
$(LIB_A): $(BUILD)/neoprene.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(INTERNAL_A): $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(LIB_SO): $(LIB_OBJ)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libneoprene.so.$(SOVERSION) -o $@ $^ $(LIBS)

# Tests reach internals, and may make the n-th allocation or system call fail (tests/support/fault.c
# and syscalls.c wrap these).
WRAPPED := malloc calloc realloc aligned_alloc posix_memalign mmap
WRAPPED += open pread pwrite posix_fallocate rename unlink fsync fdatasync msync flock
WRAPPED += neo_stream_create partition_threads
WRAP := $(addprefix -Wl$(comma)--wrap=,$(WRAPPED))
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT_OBJ) $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(WRAP) -o $@ $^ -lcmocka $(LIBS)
$(BUILD)/tests/threading/pool: private LDFLAGS += -Wl,--wrap=pthread_create
$(BUILD)/tests/threading/cpu: private LDFLAGS += $(addprefix -Wl$(comma)--wrap=sched_,getcpu getaffinity setaffinity)
$(BUILD)/tests/threading/unload: | $(LIB_SO)
# Private, or the stamp of flags would take part in it.
$(BUILD)/tests/threading/openmp.o $(BUILD)/tests/bench/threads.o: private CFLAGS += -fopenmp
$(BUILD)/tests/threading/openmp $(BUILD)/bench/threads: private LDFLAGS += -fopenmp
$(BUILD)/benchdnn/benchdnn: $(BENCHDNN_OBJ) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lopenblas $(LIBS) && ln -sfn $(CURDIR)/benchdnn/inputs $(@D)/inputs
$(BUILD)/tests/benchdnn/batch $(BUILD)/tests/benchdnn/results: | $(BUILD)/benchdnn/benchdnn
$(BUILD)/tools/%: $(BUILD)/tools/%.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests/packed/tool: | $(BUILD)/tools/neoprene-weights
$(BUILD)/tests/benchdnn/parts: private LIBS := $(INTERNAL_A) -lopenblas $(LIBS)
$(BUILD)/tests/benchdnn/parts: $(filter-out %/main.o,$(BENCHDNN_OBJ))
EXAMPLE_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard examples/support/*.c))
$(BUILD)/examples/%: $(BUILD)/examples/%.o $(EXAMPLE_SUPPORT) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# ---- tests ---------------------------------------------------------------------------------------
.PHONY: check check-examples check-benchdnn check-shapes check-install check-long check-pools check-stress check-valgrind
.PHONY: test bench bench-built
check: $(TEST_PROGRAMS) ## build and run the cmocka tests of this one TARGET (TESTS='core/core matmul/matmul' to choose)
	$(Q)EMULATOR='$(EMULATOR)' tests/run.sh $(TEST_PROGRAMS)
check-examples: $(EXAMPLES) ## build and run the examples; each checks its own result
	$(Q)EMULATOR='$(EMULATOR)' tests/run.sh --plain $(EXAMPLES)
check-benchdnn: $(BUILD)/benchdnn/benchdnn ## benchdnn's batches for continuous integration
	$(Q)EMULATOR='$(EMULATOR)' tests/benchdnn.sh $<
check-shapes: $(BUILD)/benchdnn/benchdnn ## benchdnn over every file of shapes (TARGET=portable: some twenty minutes)
	$(Q)EMULATOR='$(EMULATOR)' tests/benchdnn.sh $< long
check-install: ## install, build the examples outside of the tree, uninstall; natively
	$(Q)tests/install.sh TARGET=$(if $(CROSS),portable,$(TARGET))
# The parts run natively, except for the tests of this TARGET.
LONG_FUZZ_SECONDS ?= 600
check-long: $(TEST_PROGRAMS) ## hours: check with many more random rounds, stress, every shape, fuzz, valgrind
	$(Q)NEO_LONG=1 TEST_TIMEOUT=7200 EMULATOR='$(EMULATOR)' tests/run.sh $(TEST_PROGRAMS)
	$(Q)$(MAKE) --no-print-directory check-stress TARGET=portable
	$(Q)$(MAKE) --no-print-directory check-stress TARGET=portable SAN=thread STRESS_PROGRAMS='$(THREAD_STRESS)'
	$(Q)$(MAKE) --no-print-directory check-shapes TARGET=portable
	$(Q)$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(LONG_FUZZ_SECONDS)
	$(Q)$(MAKE) --no-print-directory check-valgrind TARGET=portable
	$(Q)for core in N1 V2 M1 A510 A55; do \
	    $(MAKE) --no-print-directory perf-choices TARGET=aarch64 CORES=$$core || exit 1; done
# Random lives in many threads, and random problems, most of which are for one thread.
THREAD_STRESS := primitive/cache_stress primitive/stress network/network
STRESS_PROGRAMS := $(THREAD_STRESS) matmul/random convolution/random threading/results convolution/winograd_random api/random network/dependency
STRESS_TESTS := $(addprefix $(BUILD)/tests/,$(STRESS_PROGRAMS))
check-stress: $(STRESS_TESTS) ## the tests of random problems and lives for minutes (TARGET=portable, SAN=thread)
	$(Q)NEO_LONG=1 TEST_TIMEOUT=7200 EMULATOR='$(EMULATOR)' tests/run.sh $(STRESS_TESTS)
# The operations once more on each kind of pool (tests/support/pool_override.c).
POOLS := caller built-in,3 built-in,16 synchronous asynchronous,3 awaited deferred,64 one hostile,7
POOL_PROGRAMS := matmul/matmul convolution/convolution convolution/winograd network/network network/memory network/primitives primitive/nested
POOL_TESTS := $(addprefix $(BUILD)/tests/,$(POOL_PROGRAMS))
.PHONY: $(POOLS:%=check-pool/%)
check-pools: $(POOLS:%=check-pool/%) ## the operations' tests on each kind of thread pool (TARGET=portable)
$(POOLS:%=check-pool/%): $(POOL_TESTS)
	@echo '  on the pool $(@F)'
	$(Q)NEO_TEST_POOL=$(@F) EMULATOR='$(EMULATOR)' tests/run.sh $(POOL_TESTS)
# Tests of one operation each: valgrind is slow, and threads, forks and limits have tools of their own.
VALGRIND_TESTS := $(addprefix $(BUILD)/tests/,core/core matmul/matmul convolution/convolution api/misuse api/memory core/slab)
NETWORK_EXAMPLES := $(addprefix $(BUILD)/examples/,resnet50 mobilenet_v2 unet bert_layer)
VALGRIND_EXAMPLES := $(filter-out $(NETWORK_EXAMPLES),$(EXAMPLES))
check-valgrind: $(VALGRIND_TESTS) $(VALGRIND_EXAMPLES) ## the operations' tests under valgrind (TARGET=portable)
	$(Q)EMULATOR='valgrind -q --error-exitcode=99 --leak-check=full' TEST_TIMEOUT=3600 tests/run.sh $(VALGRIND_TESTS)
	$(Q)EMULATOR='valgrind -q --error-exitcode=99 --leak-check=full' tests/run.sh --plain $(VALGRIND_EXAMPLES)
test: packages ## everything a change must pass: all tiers, sanitizers, examples, benchdnn
	$(Q)tests/matrix.sh
BENCH_PLUGIN := $(if $(EMULATOR),build/tools/icount.so)
bench: packages ## check ResNet-50 and BERT-base and compare with OpenBLAS
	$(Q)$(MAKE) --no-print-directory bench-built
bench-built: $(BUILD)/benchdnn/benchdnn $(BENCH_PLUGIN)
	$(Q)$(PYTHON) benchdnn/peer_table.py --benchdnn $< \
	    $(if $(EMULATOR),--emulator '$(firstword $(EMULATOR)) -cpu neoverse-n1' --plugin $(BENCH_PLUGIN))

# ---- analysis --------------------------------------------------------------------------------------
.PHONY: layers symbols spills analyze format lint fuzz
layers: ## no include goes up the folder hierarchy
	$(Q)tests/layers.sh
SPILLED = $(patsubst %.c,$(BUILD)/%.o,$(filter %neon.c,$(call sources_in,kernels/gemm)))
spills: $(SPILLED) ## no loop of a matrix-multiplication kernel touches the stack
	$(Q)tests/spills.sh $(OBJDUMP) $(SPILLED)
symbols: $(LIB_A) $(LIB_SO) ## only neo_* leaves the libraries
	$(Q)tests/symbols.sh $(NM) $(LIB_A) $(LIB_SO)
# The other analyzers read the portable build, which has no kernels.
ANALYZED := $(patsubst %.c,$(BUILD)-analyzed/%.o,$(filter %.c,$(KERNELS_ALL)))
analyze: ## gcc's static analysis of the kernels
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)-analyzed CFLAGS=-fanalyzer WERROR=-Werror $(ANALYZED)
C_FILES = $(shell git ls-files '*.c' '*.h')
format: ## rewrite all C files in the house format
	clang-format -i $(C_FILES)
lint: layers symbols analyze ## clang-format, clang-tidy, gcc's analysis, cppcheck, pyflakes, layers, symbols, documented variables
	$(Q)clang-format --dry-run --Werror $(C_FILES)
	$(Q)tests/lint.sh
# These two files of tests/fuzz say what an input is; the others are their parts.
FUZZ_MAINS := weights_file primitive
FUZZERS ?= $(FUZZ_MAINS)
FUZZ_SECONDS ?= 60
FUZZ_BUILD := build/portable-clang-address-undefined-fuzzer-no-link/fuzz
FUZZ_LIMITS := -max_len=65536 -timeout=20 -rss_limit_mb=4096
FUZZ_PARTS := $(filter-out $(FUZZ_MAINS:%=$(BUILD)/tests/fuzz/%.o),$(SUPPORT_OBJ))
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(FUZZ_PARTS) $(INTERNAL_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer $(WRAP) -o $@ $^ -lcmocka $(LIBS)
.PHONY: $(FUZZ_MAINS:%=fuzz/%)
fuzz: $(FUZZERS:%=fuzz/%) ## fuzz the reader of weights cache files, and descriptions (clang; FUZZ_SECONDS=60 FUZZERS=)
# C has left open what NULL plus 0 is; the compilers, and now C, say that it is NULL.
$(FUZZ_MAINS:%=fuzz/%): fuzz/%:
	$(Q)$(MAKE) --no-print-directory TARGET=portable CC=clang-19 SAN=address,undefined,fuzzer-no-link CPPFLAGS=-DFUZZER \
	    CFLAGS='-g -fno-sanitize=pointer-overflow' $(FUZZ_BUILD)/$*
	@mkdir -p build/fuzz/$*/seeds build/fuzz/$*/corpus
	$(Q)ASAN_OPTIONS=allocator_may_return_null=1 FUZZ_SEEDS=build/fuzz/$*/seeds $(FUZZ_BUILD)/$* $(FUZZ_LIMITS) \
	    -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz/$*/corpus build/fuzz/$*/seeds

# ---- performance (tests/perf, docs/measuring.md) ---------------------------------------------------
.PHONY: perf perf-record perf-pack perf-profile perf-balance perf-choices perf-excess perf-lines perf-layouts perf-check perf-update perf-time perf-test
.PHONY: perf-drivers perf-needs-aarch64
# Plugins run inside the emulator, so they are native. A peer's driver is built if its library is there.
HOST_CC ?= cc
PLUGINS := $(addprefix build/tools/,$(addsuffix .so,icount cachesim))
PEER_LIBS_blas := -lopenblas
PEER_LIBS_blis := -lblis
PEER_LIBS_xnnpack := -lXNNPACK -lpthreadpool
PEER_LIBS_acl := -larm_compute -larm_compute_core
# The Arm Compute Library is C++; its driver is the only program here that needs such a compiler.
PEER_CXX ?= $(CROSS_COMPILE)g++
PEER_COMPILER = $(if $(filter acl,$(1)),$(PEER_CXX) -x c++,$(CC) $(TARGET_FLAGS) -x c)
has_library = $(shell echo 'int main(void){return 0;}' | $(call PEER_COMPILER,$(1)) -o /dev/null - $(PEER_LIBS_$(1)) 2>/dev/null && echo $(1))
DRIVER_MAIN := $(BUILD)/tests/perf/driver.o $(BUILD)/tests/perf/hardware.o
PERF_LIBRARIES := $(patsubst driver_%,%,$(basename $(notdir $(wildcard tests/perf/driver_*.c*)))) blis
PERF_DRIVERS = $(addprefix $(BUILD)/tests/perf/driver_,$(foreach library,$(PERF_LIBRARIES),$(call has_library,$(library))))
PERF = PYTHONPATH=tests/perf $(PYTHON) tests/perf/perf.py
PERF_ARGS = --drivers $(BUILD)/tests/perf $(if $(EMULATOR),--emulator $(firstword $(EMULATOR))) \
    $(if $(FILES),--files $(FILES)) $(if $(CORES),--cores $(CORES)) $(if $(LAYOUT),--layout $(LAYOUT)) \
    $(if $(filter-out undefined,$(origin PEERS)),--peers '$(PEERS)') \
    $(if $(CACHES),--caches) $(if $(RECORDED),--recorded) $(if $(OUT),--out $(OUT))

build/tools/%.so: tests/perf/%.c $(wildcard tests/perf/*.h) tests/perf/a64.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HOST_CC) -std=c11 -D_GNU_SOURCE -O2 $(WARNINGS) -I. -fPIC -fvisibility=hidden -shared -pthread -o $@ \
	    $(filter-out %.h,$(if $(filter icount,$*),$^,$<))
$(BUILD)/tests/perf/%.o: private OPT := -O3
$(BUILD)/tests/perf/pack_bytes: $(BUILD)/tests/perf/pack_bytes.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
perf-pack: $(BUILD)/tests/perf/pack_bytes build/tools/icount.so ## instructions per byte of packing weights, at most 1
	$(Q)$(PYTHON) tests/perf/pack_bytes.py $< $(firstword $(EMULATOR))
$(BUILD)/tests/perf/driver_neoprene: $(BUILD)/tests/perf/driver_neoprene.o $(DRIVER_MAIN) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests/perf/driver_blis: $(BUILD)/tests/perf/driver_blas.o $(DRIVER_MAIN)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PEER_LIBS_blis) -lm
$(BUILD)/tests/perf/driver_%: $(BUILD)/tests/perf/driver_%.o $(DRIVER_MAIN)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PEER_LIBS_$*) -lm

$(BUILD)/tests/perf/driver_acl: tests/perf/driver_acl.cc tests/perf/driver.h $(DRIVER_MAIN)
	$(call say,CXX,$@)$(PEER_CXX) -std=c++14 -O2 -Wall -Wextra -I. -pthread -o $@ $(filter-out %.h,$^) $(PEER_LIBS_acl)

perf: $(PLUGINS) perf-drivers ## instructions and modelled cycles, ours and peers' (FILES= CORES= PEERS= RECORDED=1 OUT=docs/performance.md)
	$(Q)$(PERF) table $(PERF_ARGS)
perf-record: $(PLUGINS) perf-drivers ## keep what peers were counted at, for RECORDED=1 (FILES= PEERS=)
	$(Q)$(PERF) record $(PERF_ARGS)
perf-profile: $(PLUGINS) perf-drivers ## where one problem's cycles go (PROBLEM=256x256:256x256 LIBRARY=neoprene CORES=N1 SHOW=1)
	$(Q)$(PERF) profile $(PERF_ARGS) --problem '$(PROBLEM)' $(if $(LIBRARY),--library $(LIBRARY)) $(if $(SHOW),--show)
perf-balance: $(PLUGINS) perf-drivers ## how threads share problems (PROBLEM= or FILES=, LIBRARY= THREADS=4,16,64)
	$(Q)$(PERF) balance $(PERF_ARGS) $(if $(PROBLEM),--problem '$(PROBLEM)') $(if $(LIBRARY),--library $(LIBRARY)) $(if $(THREADS),--threads $(THREADS))
perf-choices: $(PLUGINS) perf-drivers ## is the fastest implementation chosen? (CORES=N1)
	$(Q)$(PERF) choices $(PERF_ARGS)
perf-excess: $(PLUGINS) perf-drivers ## rows that execute more products than they need, and why (FILES= CORES=N1)
	$(Q)$(PERF) excess $(PERF_ARGS)
perf-lines: $(PLUGINS) perf-drivers ## cache lines that calls move, beside peers and bounds (FILES= PEERS= OUT=docs/cache-lines.md)
	$(Q)$(PERF) lines $(PERF_ARGS)
perf-layouts: $(PLUGINS) perf-drivers ## convolutions that take longer with channels first (FILES= CORES=N1 OUT=docs/channels-first.md)
	$(Q)$(PERF) layouts $(PERF_ARGS)
perf-check: $(PLUGINS) perf-drivers ## compare instructions and cache lines with tests/perf/expected_*.txt
	$(Q)$(PERF) check $(PERF_ARGS)
perf-update: $(PLUGINS) perf-drivers ## rewrite tests/perf/expected_*.txt; review the diff
	$(Q)$(PERF) update $(PERF_ARGS)
perf-time: perf-drivers ## on an AArch64 machine: times, GFLOP/s, percent of the measured peak, events
	$(Q)$(PERF) time $(PERF_ARGS)
perf-test: ## tests of the performance tools themselves
	$(Q)cd tests/perf && $(PYTHON) -m unittest -q test_tools
perf-drivers:
	$(Q)$(MAKE) --no-print-directory $(if $(filter portable,$(TARGET)),perf-needs-aarch64,$(PERF_DRIVERS))
perf-needs-aarch64:
	$(error make perf measures AArch64 kernels: it needs TARGET=aarch64)

# ---- micro-benchmarks (tests/bench): they reach internals too ---------------------------------------
.PHONY: bench-memory bench-cache bench-weights bench-threads
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(INTERNAL_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL_A) $(LIBS)
$(BUILD)/bench/memory: $(BUILD)/tests/support/networks.o
$(BUILD)/bench/networks $(BUILD)/bench/weights: $(BUILD)/tests/bench/shapes.o
$(BUILD)/bench/weights $(BUILD)/bench/weights_provider: $(BUILD)/tests/support/temporary.o
$(BUILD)/bench/weights: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/weights/*.c))
bench-memory: $(BUILD)/bench/memory ## memory plans against their lower bounds, allocations while decoding
	$(Q)$(EMULATOR) $<
BENCH_CACHE := $(addprefix $(BUILD)/bench/,cache primitive networks)
bench-cache: $(BENCH_CACHE) ## what the primitive cache and the memory pools cost and gain (native: TARGET=portable)
	$(Q)$(EMULATOR) $(BUILD)/bench/cache
	$(Q)$(EMULATOR) $(BUILD)/bench/primitive
	$(Q)$(EMULATOR) $(BUILD)/bench/networks benchdnn/inputs/conv/shapes_resnet_50 benchdnn/inputs/matmul/shapes_bert_base_weights
bench-weights: ## packed weights: cold and warm starts, memory of processes; runs natively (LAYERS= PLOT=)
ifneq ($(CROSS),)
	$(Q)$(MAKE) --no-print-directory TARGET=portable $@
else
bench-weights: $(BUILD)/bench/weights
	$(Q)$< $(if $(LAYERS),--layers $(LAYERS)) > $(BUILD)/bench/weights.txt && cat $(BUILD)/bench/weights.txt
	$(Q)$(PYTHON) tests/bench/weights_plot.py $(BUILD)/bench/weights.txt $(or $(PLOT),$(BUILD)/bench/weights.svg)
endif
bench-threads: ## what threads cost, against OpenMP and pthreadpool; runs natively
ifneq ($(CROSS),)
	$(Q)$(MAKE) --no-print-directory TARGET=portable $@
else
bench-threads: $(BUILD)/bench/threads $(BUILD)/benchdnn/benchdnn
	$(Q)$< "$$(tests/bench/peer-pool.sh build/peers)"
	-$(Q)$(PYTHON) tests/bench/scaling.py $(BUILD)/benchdnn/benchdnn
endif

# ---- install -------------------------------------------------------------------------------------
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
.PHONY: install uninstall clean
install: $(LIB_A) $(LIB_SO) $(TOOLS) ## headers, libraries, tools, pkg-config file (PREFIX, DESTDIR)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(TOOLS) $(DESTDIR)$(BINDIR)
	install -m 644 docs/*.1 $(DESTDIR)$(MANDIR)/man1
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/neoprene
	install -m 644 include/neoprene/*.h $(DESTDIR)$(INCLUDEDIR)/neoprene
	install -m 644 $(LIB_A) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)
	ln -sf libneoprene.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libneoprene.so.$(SOVERSION)
	ln -sf libneoprene.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libneoprene.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' 'Name: neoprene' \
	    'Description: convolution and matrix-multiplication primitives for AArch64' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lneoprene' 'Libs.private: $(LIBS) -pthread' \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/neoprene.pc
uninstall: ## remove what install wrote
	rm -rf $(DESTDIR)$(INCLUDEDIR)/neoprene $(DESTDIR)$(LIBDIR)/libneoprene.a \
	    $(DESTDIR)$(LIBDIR)/libneoprene.so* $(DESTDIR)$(LIBDIR)/pkgconfig/neoprene.pc \
	    $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(TOOLS))) $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard docs/*.1)))
clean: ## remove the build folder
	rm -rf build

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(BUILD)/*/*/*/*.d)
