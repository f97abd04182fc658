# The tests: programs of tests/*/, each a file, and what is run besides them (docs/testing.md).

# The other folders have parts of programs, or programs of their own kind.
TEST_SRC := $(filter-out $(addprefix tests/,support/% fuzz/% perf/% bench/% sweep/% compat/calls.c),$(wildcard tests/*/*.c))
# gcc's OpenMP only; the thread sanitizer cannot see how its threads meet, so there each thread of a program is alone.
ifneq ($(IS_CLANG)$(findstring thread,$(SAN)),)
TEST_SRC := $(filter-out tests/threading/openmp.c $(if $(IS_CLANG),$(wildcard tests/compat/onednn*.c) tests/compat/imports.c),$(TEST_SRC))
endif
ifneq ($(findstring thread,$(SAN)),)
export OMP_NUM_THREADS := 1
endif
ALL_TESTS := $(patsubst tests/%.c,%,$(TEST_SRC))
TESTS := $(ALL_TESTS)
# A name is that of a program (matmul/matmul), of a folder (matmul, or matmul/) or a pattern (matmul/r%).
tests_named = $(sort $(foreach name,$(1),$(or $(filter $(name) $(name:%/=%)/%,$(ALL_TESTS)),$(name))))
# What takes longest begins, so that no processor waits for it in the end.
LONGEST := threading/operations convolution/convolution packed/crash threading/results api/random benchdnn/batch \
    benchdnn/results kernels/dwconv_f32 matmul/matmul convolution/types convolution/winograd packed/verify memory/plan \
    convolution/random gemm/gemm resampling/resampling memory/block_interleavings matmul/types softmax/softmax
longest_first = $(foreach name,$(LONGEST),$(filter $(name),$(1))) $(filter-out $(LONGEST),$(1))
test_programs = $(addprefix $(BUILD)/tests/,$(call longest_first,$(call tests_named,$(1))))
TEST_PROGRAMS := $(filter-out $(addprefix $(BUILD)/tests/,$(WITHOUT)),$(call test_programs,$(TESTS)))
SUPPORT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c tests/support/*/*.c tests/fuzz/*.c))

# Tests reach internals, and may make the n-th allocation or system call fail (tests/support/fault.c
# and syscalls.c wrap these).
WRAPPED := malloc calloc realloc aligned_alloc posix_memalign mmap
WRAPPED += open pread pwrite posix_fallocate linkat rename unlink fsync fdatasync msync flock
WRAPPED += neo_stream_create partition_threads
WRAP := $(addprefix -Wl$(comma)--wrap=,$(WRAPPED))
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT_OBJ) $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(WRAP) -o $@ $^ -lcmocka -lnuma $(LIBS)
# `make test` links the programs that a step of it runs as one, and their names are links to it (TOGETHER=1): a link takes
# longer than most of them do. Those that the linker treats otherwise, or that bring parts of the library, are alone.
ALONE := compat/% tools/% benchdnn/parts memory/block_interleavings packed/verify threading/cpu threading/openmp threading/pool
ifdef TOGETHER
JOINED := $(filter-out $(ALONE),$(TEST_PROGRAMS:$(BUILD)/tests/%=%))
JOINED_OBJ := $(JOINED:%=$(BUILD)/joined/%.o)
JOINT := $(BUILD)/joined/$(firstword $(shell echo '$(JOINED)' | cksum))
$(JOINED_OBJ): $(BUILD)/joined/%.o: $(BUILD)/tests/%.o
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) --redefine-sym main=main_of_$(subst /,_,$*) $< $@
$(JOINT).o: tests/joined.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) '-DPROGRAMS=$(foreach program,$(JOINED),P($(subst /,$(comma),$(program))))' -c -o $@ $<
$(JOINT): $(JOINT).o $(JOINED_OBJ) $(SUPPORT_OBJ) $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(WRAP) -o $@ $^ -lcmocka -lnuma $(LIBS)
$(JOINED:%=$(BUILD)/tests/%): $(JOINT)
	$(Q)ln -f $< $@
endif
$(BUILD)/tests/threading/pool: private LDFLAGS += -Wl,--wrap=pthread_create
$(BUILD)/tests/packed/verify: private LDFLAGS += -Wl,--wrap=clock_gettime
$(BUILD)/tests/threading/cpu: private LDFLAGS += $(addprefix -Wl$(comma)--wrap=sched_,getcpu getaffinity setaffinity)
$(BUILD)/tests/threading/unload: | $(LIB_SO)
# Processors with BTI insist on marks in all of a kernel's test (tests/support/kernel_tests.c).
$(BUILD)/tests/kernels/%.o $(BUILD)/tests/support/%.o: private FOLDER_FLAGS += $(MARKS)
# Private, or the stamp of flags would take part in it.
$(BUILD)/tests/threading/openmp.o: private CFLAGS += -fopenmp
$(BUILD)/tests/threading/openmp: private LDFLAGS += -fopenmp
$(BUILD)/tests/benchdnn/batch $(BUILD)/tests/benchdnn/results: | $(BUILD)/benchdnn/benchdnn
$(BUILD)/tests/packed/tool: | $(BUILD)/tools/neoprene-weights
$(BUILD)/tests/benchdnn/parts: private LIBS := $(INTERNAL_A) -lopenblas $(LIBS)
$(BUILD)/tests/benchdnn/parts: $(filter-out %/main.o,$(BENCHDNN_OBJ))

.PHONY: test check check-examples check-install check-long check-pools check-stress check-valgrind
check: $(TEST_PROGRAMS) ## build and run the cmocka tests of this one TARGET (TESTS='core/core matmul' chooses programs and folders, WITHOUT= leaves programs out)
	$(Q)EMULATOR='$(EMULATOR)' tests/run.sh $(TEST_PROGRAMS)
# In an emulator plain loops of ResNet's rounded values take most of the time; other networks have these types.
EXAMPLES_RUN := $(if $(EMULATOR),$(EXAMPLES:%/resnet50=%/resnet50$(comma)f32),$(EXAMPLES))
check-examples: $(EXAMPLES) ## build and run the examples; each checks its own result
	$(Q)EMULATOR='$(EMULATOR)' tests/run.sh --plain $(EXAMPLES_RUN)
# With their usual images, and all layers: plain loops of double take most of the time.
WHOLE_NETWORKS := resnet50,224 mobilenet_v2,224 mobilenet_v3,224 unet,64 bert_base,64,12 decoder,500
.PHONY: check-networks $(WHOLE_NETWORKS:%=check-network/%)
check-networks: $(WHOLE_NETWORKS:%=check-network/%) ## whole networks of usual sizes, against plain loops of double (TARGET=portable)
$(WHOLE_NETWORKS:%=check-network/%): check-network/%: $(EXAMPLES)
	$(Q)$(EMULATOR) $(BUILD)/examples/$(subst $(comma), ,$*)
check-install: ## install, build the examples outside of the tree, uninstall; natively
	$(Q)tests/install.sh TARGET=$(if $(CROSS),portable,$(TARGET))
# The parts run natively, except for the tests of this TARGET.
LONG_FUZZ_SECONDS ?= 600
check-long: $(TEST_PROGRAMS) ## hours: all programs in all configurations, many more random rounds, stress, every shape, every f32, whole networks, fuzz, valgrind
	$(Q)tests/matrix.sh whole
	$(Q)NEOPRENE_LONG=1 TEST_TIMEOUT=7200 EMULATOR='$(EMULATOR)' tests/run.sh $(TEST_PROGRAMS)
	$(Q)$(MAKE) --no-print-directory check-stress TARGET=portable
	$(Q)$(MAKE) --no-print-directory check-stress TARGET=portable SAN=thread STRESS_PROGRAMS='$(THREAD_STRESS)'
	$(Q)$(MAKE) --no-print-directory check-shapes TARGET=portable
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) check-sweep
	$(Q)$(MAKE) --no-print-directory check-networks TARGET=portable
	$(Q)$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(LONG_FUZZ_SECONDS)
	$(Q)$(MAKE) --no-print-directory check-valgrind TARGET=portable
	$(Q)for core in N1 V2 M1 A55; do \
	    $(MAKE) --no-print-directory perf-choices TARGET=aarch64 CORES=$$core || exit 1; done
# Random lives in many threads, and random problems, most of which are for one thread.
THREAD_STRESS := primitive/cache_stress primitive/stress network/network
STRESS_PROGRAMS := $(THREAD_STRESS) matmul/random convolution/random threading/results convolution/winograd_random api/random network/dependency
STRESS_TESTS := $(call test_programs,$(STRESS_PROGRAMS))
check-stress: $(STRESS_TESTS) ## the tests of random problems and lives for minutes (TARGET=portable, SAN=thread)
	$(Q)NEOPRENE_LONG=1 TEST_TIMEOUT=7200 EMULATOR='$(EMULATOR)' tests/run.sh $(STRESS_TESTS)
# The operations once more on each kind of pool (tests/support/pool_override.c).
POOLS := caller built-in,3 built-in,16 synchronous asynchronous,3 awaited deferred,64 one hostile,7
POOL_PROGRAMS := matmul/matmul convolution/convolution convolution/winograd network/network network/memory network/primitives primitive/nested
POOL_TESTS := $(call test_programs,$(POOL_PROGRAMS))
.PHONY: $(POOLS:%=check-pool/%)
check-pools: $(POOLS:%=check-pool/%) ## the operations' tests on each kind of thread pool (TARGET=portable)
$(POOLS:%=check-pool/%): $(POOL_TESTS)
	@echo '  on the pool $(@F)'
	$(Q)NEOPRENE_TEST_POOL=$(@F) EMULATOR='$(EMULATOR)' tests/run.sh $(POOL_TESTS)
# Tests of one operation each: valgrind is slow, and threads, forks and limits have tools of their own.
VALGRIND_TESTS := $(call test_programs,core/core matmul/matmul convolution/convolution api/misuse api/memory core/slab)
NETWORK_EXAMPLES := $(addprefix $(BUILD)/examples/,resnet50 mobilenet_v2 mobilenet_v3 unet bert_base)
VALGRIND_EXAMPLES := $(filter-out $(NETWORK_EXAMPLES),$(EXAMPLES))
check-valgrind: $(VALGRIND_TESTS) $(VALGRIND_EXAMPLES) ## the operations' tests under valgrind (TARGET=portable)
	$(Q)EMULATOR='valgrind -q --error-exitcode=99 --leak-check=full' TEST_TIMEOUT=3600 tests/run.sh $(VALGRIND_TESTS)
	$(Q)EMULATOR='valgrind -q --error-exitcode=99 --leak-check=full' tests/run.sh --plain $(VALGRIND_EXAMPLES)
# Another C library, which has small stacks; its programs are static. For AArch64 it is unpacked, and compiled for by Debian's
# cross compiler.
.PHONY: check-musl check-musl/portable check-musl/aarch64
check-musl: check-musl/portable check-musl/aarch64 ## the library, the tool and the examples with musl, natively and for AArch64 (Debian's musl-tools)
WITH_MUSL = $(MAKE) --no-print-directory TARGET=$(@F) BUILD=build/$(@F)-musl LDFLAGS=-static
check-musl/portable:
	$(Q)$(WITH_MUSL) CC=musl-gcc check-examples build/$(@F)-musl/tools/neoprene-weights
MUSL_ROOT := build/musl
check-musl/aarch64:
	$(Q)! tests/musl.sh $(MUSL_ROOT) || $(WITH_MUSL) CC='aarch64-linux-gnu-gcc -specs=$(MUSL_ROOT)/musl-gcc.specs' check-examples static-size \
	    build/$(@F)-musl/tools/neoprene-weights
# What depends on the machine, and does not take long there.
SYSTEM_TESTS := $(call test_programs,arch $(addprefix memory/,allocation constants engine kinds limits) network/memory \
    $(filter-out packed/crash threading/operations threading/results,$(call tests_named,packed threading)))
.PHONY: check-system check-pages
check-system: $(SYSTEM_TESTS) $(LIB_SO) $(BUILD)/tools/neoprene-weights check-pages ## whole AArch64 machines with two NUMA nodes, unequal cores, pages of 4 and 16 KiB (qemu-system, 20 minutes)
	$(Q)tests/system/run.sh $(OBJCOPY) $(BUILD) $(SYSTEM_TESTS)
# No kernel of Debian's has such pages; the emulator of programs can pretend to.
check-pages: $(SYSTEM_TESTS) $(LIB_SO) $(BUILD)/tools/neoprene-weights ## the same tests with pages of 64 KiB, as an emulator has them
	$(Q)$(if $(EMULATOR),NEOPRENE_SHORT=1 EMULATOR='$(EMULATOR) -p 65536' tests/run.sh $(SYSTEM_TESTS),echo '  check-pages: skipped: without an emulator pages are as the kernel has them')
test: packages ## everything a change must pass: all tiers, sanitizers, examples, benchdnn
	$(Q)tests/matrix.sh
