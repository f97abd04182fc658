# Fuzzing with libFuzzer, natively.
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
.PHONY: fuzz $(FUZZ_MAINS:%=fuzz/%)
fuzz: $(FUZZERS:%=fuzz/%) ## fuzz the reader of weights cache files, and descriptions (clang; FUZZ_SECONDS=60 FUZZERS=)
# C has left open what NULL plus 0 is; the compilers, and now C, say that it is NULL.
$(FUZZ_MAINS:%=fuzz/%): fuzz/%:
	$(Q)$(MAKE) --no-print-directory TARGET=portable CC=clang-19 SAN=address,undefined,fuzzer-no-link CPPFLAGS=-DFUZZER \
	    CFLAGS='-g -fno-sanitize=pointer-overflow' $(FUZZ_BUILD)/$*
	@mkdir -p build/fuzz/$*/seeds build/fuzz/$*/corpus
	$(Q)ASAN_OPTIONS=allocator_may_return_null=1 FUZZ_SEEDS=build/fuzz/$*/seeds $(FUZZ_BUILD)/$* $(FUZZ_LIMITS) \
	    -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz/$*/corpus build/fuzz/$*/seeds
