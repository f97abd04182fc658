# Micro-benchmarks; they reach internals, as tests do.
.PHONY: bench-memory bench-cache bench-weights bench-threads
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(INTERNAL_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL_A) $(LIBS)
# Private, or the stamp of flags would take part in it.
$(BUILD)/tests/bench/threads.o: private CFLAGS += -fopenmp
$(BUILD)/bench/threads: private LDFLAGS += -fopenmp
$(BUILD)/bench/memory: $(BUILD)/tests/support/cases/networks.o
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
