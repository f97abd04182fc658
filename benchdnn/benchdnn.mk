# Checks and comparisons that benchdnn makes.
.PHONY: check-benchdnn check-shapes bench bench-built
check-benchdnn: $(BUILD)/benchdnn/benchdnn ## benchdnn's batches for continuous integration
	$(Q)EMULATOR='$(EMULATOR)' tests/benchdnn.sh $<
check-shapes: $(BUILD)/benchdnn/benchdnn ## benchdnn over every file of shapes (TARGET=portable: some twenty minutes)
	$(Q)EMULATOR='$(EMULATOR)' tests/benchdnn.sh $< long
BENCH_PLUGIN := $(if $(EMULATOR),build/tools/icount.so)
bench: packages ## check ResNet-50 and BERT-base and compare with OpenBLAS
	$(Q)$(MAKE) --no-print-directory bench-built
bench-built: $(BUILD)/benchdnn/benchdnn $(BENCH_PLUGIN)
	$(Q)$(PYTHON) benchdnn/peer_table.py --benchdnn $< \
	    $(if $(EMULATOR),--emulator '$(firstword $(EMULATOR)) -cpu neoverse-n1' --plugin $(BENCH_PLUGIN))
