# Instructions and modelled cycles of this library and of its peers (docs/measuring.md).
.PHONY: perf perf-record perf-pack perf-late perf-profile perf-balance perf-choices perf-excess perf-lines perf-layouts perf-worth perf-ratios perf-check perf-update perf-time perf-test perf-path
.PHONY: perf-drivers perf-needs-aarch64 perf-cycles perf-cycles-probe
# Plugins run inside the emulator, so they are native.
HOST_CC ?= cc
PLUGINS := $(addprefix build/tools/,$(addsuffix .so,icount cachesim))
# Peers are those of Debian 13 once `make peers` has unpacked them, and then all of them. Otherwise they are this
# machine's own: a driver is built if its library and its header are there (PEERS_ROOT= forgets what was unpacked).
UNPACKED := $(wildcard $(PEERS_ROOT)/.unpacked/complete)
PEER_INCLUDE := $(PEERS_ROOT)/usr/include
PEER_LIB := $(PEERS_ROOT)/usr/lib/aarch64-linux-gnu
PEER_FLAGS := $(if $(UNPACKED),-isystem $(PEER_INCLUDE)/aarch64-linux-gnu -isystem $(PEER_INCLUDE))
# An unpacked library may need a newer C library than the compiler's: it finds that one when it is loaded.
PEER_LDFLAGS := $(if $(UNPACKED),-L$(PEER_LIB) -L$(PEER_LIB)/openblas-pthread -L$(PEER_LIB)/blis-pthread -Wl$(comma)--unresolved-symbols=ignore-in-shared-libs)
PEER_LIBS_blas := -lopenblas
PEER_LIBS_blis := -lblis
PEER_LIBS_xnnpack := -lXNNPACK -lpthreadpool
PEER_LIBS_acl := -larm_compute
PEER_LIBS_kleidiai := -lkleidiai
PEER_LIBS_mlas := -lonnxruntime
PEER_LIBS_onednn := -ldnnl
# A header that only the version has that a driver is for.
PEER_NEEDS_acl := arm_compute/function_info/ActivationLayerInfo.h
# The Arm Compute Library is C++; its driver is the only program here that needs such a compiler.
PEER_CXX ?= $(CROSS_COMPILE)g++
PEER_COMPILER = $(if $(filter acl,$(1)),$(PEER_CXX) -x c++,$(CC) $(TARGET_FLAGS) -x c)
HASH := \#
PEER_PROBE = $(patsubst %,$(HASH)include <%>\n,$(PEER_NEEDS_$(1)))int main(void){return 0;}\n
has_library = $(shell printf '$(PEER_PROBE)' | $(call PEER_COMPILER,$(1)) $(PEER_FLAGS) -o /dev/null - $(PEER_LDFLAGS) $(PEER_LIBS_$(1)) 2>/dev/null && echo $(1))
DRIVER_MAIN := $(addprefix $(BUILD)/tests/perf/,driver.o problem.o types.o arrays.o check.o operations.o hardware.o)
PERF_PEERS := $(filter-out neoprene,$(patsubst driver_%,%,$(basename $(notdir $(wildcard tests/perf/driver_*.c*))))) blis
PEER_DRIVERS := $(BUILD)/tests/perf/$(if $(UNPACKED),unpacked,installed)
PERF_DRIVERS = $(BUILD)/tests/perf/driver_neoprene $(addprefix $(PEER_DRIVERS)/driver_,$(foreach peer,$(PERF_PEERS),$(call has_library,$(peer))))
PERF = PYTHONPATH=tests/perf $(PYTHON) tests/perf/perf.py
# Other types than f32 (docs/measuring.md).
TYPE_ARGS = $(if $(TYPES),--types $(TYPES)) $(if $(GROUP_ROWS),--group-rows $(GROUP_ROWS)) $(if $(FPMATH),--fpmath $(FPMATH)) \
    $(if $(ACCUMULATION),--accumulation $(ACCUMULATION)) $(if $(filter 1,$(DST_SCALE)),--dst-scale)
PERF_ARGS = --drivers $(BUILD)/tests/perf $(if $(UNPACKED),--root $(PEERS_ROOT)) $(if $(EMULATOR),--emulator $(firstword $(EMULATOR))) \
    $(if $(FILES),--files $(FILES)) $(if $(CORES),--cores $(CORES)) $(if $(LAYOUT),--layout $(LAYOUT)) \
    $(if $(filter-out undefined,$(origin PEERS)),--peers '$(PEERS)') \
    $(if $(CACHES),--caches) $(if $(RECORDED),--recorded) $(if $(OUT),--out $(OUT)) $(if $(SUMMARY),--summary $(SUMMARY)) $(TYPE_ARGS)

build/tools/%.so: tests/perf/plugins/%.c $(wildcard tests/perf/*.h tests/perf/plugins/*.h) tests/perf/plugins/a64.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HOST_CC) -std=c11 -D_GNU_SOURCE -O2 $(WARNINGS) -I. -fPIC -fvisibility=hidden -shared -pthread -o $@ \
	    $(filter-out %.h,$(if $(filter icount,$*),$^,$<))
$(BUILD)/tests/perf/%.o: private OPT := -O3
$(BUILD)/tests/perf/pack_bytes $(BUILD)/tests/perf/late_sizes: $(BUILD)/tests/perf/%: $(BUILD)/tests/perf/%.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
perf-pack: $(BUILD)/tests/perf/pack_bytes build/tools/icount.so ## instructions per byte of packing weights, at most 1
	$(Q)$(PYTHON) tests/perf/pack_bytes.py $< $(firstword $(EMULATOR))
perf-late: $(BUILD)/tests/perf/late_sizes build/tools/icount.so ## convolutions with sizes known late, at most 5 % over fixed ones
	$(Q)$(PYTHON) tests/perf/late_sizes.py $< $(firstword $(EMULATOR))
# Kernels' lists are no part of the interface: the drivers of ours see what is inside.
OUR_DRIVER := $(addprefix $(BUILD)/tests/perf/,driver_neoprene.o operations_neoprene.o without.o) $(DRIVER_MAIN)
$(BUILD)/tests/perf/driver_neoprene: $(OUR_DRIVER) $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(PEER_DRIVERS)/%.o: tests/perf/%.c $(BUILD)/flags $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(PEER_FLAGS) -c -o $@ $<
$(PEER_DRIVERS)/driver_blis: $(PEER_DRIVERS)/driver_blas.o $(DRIVER_MAIN)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(PEER_LDFLAGS) -o $@ $^ $(PEER_LIBS_blis) -lm
$(PEER_DRIVERS)/driver_mlas: $(BUILD)/tests/perf/onnx_model.o
$(PEER_DRIVERS)/driver_xnnpack: $(PEER_DRIVERS)/operations_xnnpack.o
$(PEER_DRIVERS)/driver_onednn: $(PEER_DRIVERS)/operations_onednn.o
$(PEER_DRIVERS)/driver_%: $(PEER_DRIVERS)/driver_%.o $(DRIVER_MAIN)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(PEER_LDFLAGS) -o $@ $^ $(PEER_LIBS_$*) -lm
$(PEER_DRIVERS)/%.o: tests/perf/%.cc $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CXX,$@)$(PEER_CXX) -std=c++17 -O2 -Wall -Wextra -I. $(PEER_FLAGS) -pthread -MMD -MP -c -o $@ $<
$(PEER_DRIVERS)/driver_acl: $(addprefix $(PEER_DRIVERS)/,driver_acl.o operations_acl.o) $(DRIVER_MAIN)
	$(call say,LD,$@)$(PEER_CXX) -pthread $(PEER_LDFLAGS) -o $@ $^ $(PEER_LIBS_acl)

# Built apart, as every function tells that it is entered; addresses are those of the file.
ADDR2LINE ?= $(CROSS_COMPILE)addr2line
ifdef TRACED
$(BUILD)/src/%.o: private CFLAGS += -finstrument-functions -finstrument-functions-exclude-file-list=.h -fno-pie
endif
$(BUILD)/tests/perf/path: $(BUILD)/tests/perf/path.o $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -no-pie -o $@ $^ $(LIBS)
perf-path: ## how many files a reader visits to follow the description of a problem
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)-traced TRACED=1 $(BUILD)-traced/tests/perf/path
	$(Q)$(PYTHON) tests/perf/path.py $(ADDR2LINE) $(BUILD)-traced/tests/perf/path $(EMULATOR)

perf: $(PLUGINS) perf-drivers ## instructions and modelled cycles, ours and peers' (FILES= CORES= PEERS= RECORDED=1 OUT=build/performance.md SUMMARY=)
	$(Q)$(PERF) table $(PERF_ARGS)
perf-record: $(PLUGINS) perf-drivers ## keep what peers were counted at, for RECORDED=1 (FILES= PEERS=)
	$(Q)$(PERF) record $(PERF_ARGS)
perf-profile: $(PLUGINS) perf-drivers ## where one problem's cycles go (PROBLEM=256x256:256x256 LIBRARY=neoprene CORES=N1 SHOW=1)
	$(Q)$(PERF) profile $(PERF_ARGS) --problem '$(PROBLEM)' $(if $(LIBRARY),--library $(LIBRARY)) $(if $(SHOW),--show)
perf-balance: $(PLUGINS) perf-drivers ## how threads share problems (PROBLEM= or FILES=, LIBRARY= THREADS=4,16,64)
	$(Q)$(PERF) balance $(PERF_ARGS) $(if $(PROBLEM),--problem '$(PROBLEM)') $(if $(LIBRARY),--library $(LIBRARY)) $(if $(THREADS),--threads $(THREADS))
perf-choices: $(PLUGINS) perf-drivers $(BUILD)/tests/perf/cycles_driver ## is the fastest implementation chosen? (CORES=N1 GEM5=gem5.fast)
	$(Q)$(PERF) choices $(PERF_ARGS) --gem5 $(GEM5) --cycles-driver $(abspath $(BUILD))/tests/perf/cycles_driver
perf-excess: $(PLUGINS) perf-drivers ## rows that execute more products than they need, and why (FILES= CORES=N1)
	$(Q)$(PERF) excess $(PERF_ARGS)
perf-lines: $(PLUGINS) perf-drivers ## cache lines that calls move, beside peers and bounds (FILES= PEERS= OUT=build/cache-lines.md)
	$(Q)$(PERF) lines $(PERF_ARGS)
perf-worth: $(PLUGINS) perf-drivers ## rows slower without kernels (KERNEL='gemm_f32_panels_*' EACH=1 FILES=every CORES=N1,A55)
	$(Q)NM=$(NM) $(PERF) worth $(PERF_ARGS) $(if $(KERNEL),--kernels '$(KERNEL)') $(if $(EACH),--each)
perf-ratios: $(PLUGINS) perf-drivers ## how many times faster than f32 other types are (TYPES=s8:s8:s8 FPMATH= FILES= CORES=N2)
	$(Q)$(PERF) ratios $(PERF_ARGS)
perf-layouts: $(PLUGINS) perf-drivers ## convolutions that take longer with channels first (FILES= CORES=N1 OUT=build/channels-first.md)
	$(Q)$(PERF) layouts $(PERF_ARGS)
perf-check: $(PLUGINS) perf-drivers ## compare instructions and cache lines with tests/perf/expected_*.txt
	$(Q)$(PERF) check $(PERF_ARGS)
perf-update: $(PLUGINS) perf-drivers ## rewrite tests/perf/expected_*.txt; review the diff
	$(Q)$(PERF) update $(PERF_ARGS)
perf-time: perf-drivers ## on an AArch64 machine: times, GFLOP/s, percent of the measured peak, events
	$(Q)$(PERF) time $(PERF_ARGS)
# The simulator runs static programs; gem5 is not in Debian (docs/measuring.md).
$(BUILD)/tests/perf/cycles_driver: $(OUR_DRIVER) $(INTERNAL_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -static -o $@ $^ -lm
$(BUILD)/tests/perf/cycles_driver_%: $(DRIVER_MAIN) $(BUILD)/tests/perf/driver_%.o
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -static -o $@ $^ $(PEER_LIBS_$*) -lm
GEM5 ?= gem5.fast
# PEERS=blas; others have no static libraries.
CYCLES_PEERS = $(filter blas,$(subst $(comma), ,$(PEERS)))
perf-cycles: build/tools/icount.so $(BUILD)/tests/perf/cycles_driver ## µs of a simulated core with memory (GEM5=gem5.fast FILES= or PROBLEM= CORES=N1,A55 MEM=board,server,loaded WARM=1 PEERS=blas ALGORITHMS=gemm,winograd_2)
	$(Q)$(if $(CYCLES_PEERS),$(MAKE) --no-print-directory $(CYCLES_PEERS:%=$(BUILD)/tests/perf/cycles_driver_%))
	$(Q)PYTHONPATH=tests/perf $(PYTHON) tests/perf/cycles.py --gem5 $(GEM5) --driver $(BUILD)/tests/perf/cycles_driver $(if $(EMULATOR),--emulator $(firstword $(EMULATOR))) $(if $(PROBLEM),--problem '$(PROBLEM)') \
	    $(if $(FILES),--files $(FILES)) $(if $(CORES),--cores $(CORES)) $(if $(MEM),--memory $(MEM)) $(if $(LAYOUT),--layout $(LAYOUT)) $(if $(WARM),--warm) \
	    $(if $(ALGORITHMS),--implementations $(ALGORITHMS)) $(foreach p,$(CYCLES_PEERS),--peer $(p)=$(BUILD)/tests/perf/cycles_driver_$(p)) $(TYPE_ARGS)
$(BUILD)/tests/perf/cycles/probe: $(BUILD)/tests/perf/cycles/probe.o
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -static -o $@ $^ -lm
perf-cycles-probe: $(BUILD)/tests/perf/cycles/probe ## does the simulated Cortex-A55 take as many cycles as is published? (GEM5=gem5.fast)
	$(Q)$(GEM5) -q -d $(BUILD)/tests/perf/cycles tests/perf/cycles/cortex_a55.py $<
perf-test: ## tests of the performance tools themselves
	$(Q)cd tests/perf && $(PYTHON) -m unittest -q test_tools
perf-drivers:
	$(Q)$(MAKE) --no-print-directory $(if $(Q),-s) $(if $(filter portable,$(TARGET)),perf-needs-aarch64,$(PERF_DRIVERS))
perf-needs-aarch64:
	$(error make perf measures AArch64 kernels: it needs TARGET=aarch64)
