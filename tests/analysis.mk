# What reads sources and objects instead of running them.
.PHONY: layers circles constants symbols abi abi-record hardening baseline spills analyze format lint
# Both judge the objects as they were built last, whatever the flags; `make lint` builds before.
JUDGED = $(LIB_OBJ) $(BENCHDNN_OBJ) $(ONEDNN_OBJ)
NOT_BUILT = $(filter-out $(wildcard $(JUDGED)),$(JUDGED))
layers: circles constants symbols mutants-fit ## no include and no symbol goes up the folders (tests/layers.txt)
	$(Q)$(PYTHON) tests/structure.py layers $(NM) $(BUILD) $(JUDGED)
circles: $(NOT_BUILT) ## no file needs itself through the symbols of others
	$(Q)$(PYTHON) tests/structure.py circles $(NM) $(BUILD) $(JUDGED)
constants: ## estimates' constants are in arch/costs.c
	$(Q)$(PYTHON) tests/constants.py $(filter src/%,$(C_FILES))
SPILLED = $(patsubst %.c,$(BUILD)/%.o,$(filter %neon.c,$(call sources_in,kernels/gemm)))
spills: $(SPILLED) ## no loop of a matrix-multiplication kernel touches the stack
	$(Q)tests/spills.sh $(OBJDUMP) $(SPILLED)
symbols: $(LIB_A) $(LIB_SO) ## only neo_* leaves the libraries
	$(Q)tests/symbols.sh $(NM) $(LIB_A) $(LIB_SO) $(EXPORTS)
abi: $(LIB_SO) ## what released libraries offered is there, unchanged (docs/abi.md)
	$(Q)tests/abi.sh $(LIB_SO) $(TARGET)
abi-record: $(LIB_SO) ## describe this library as a released one, for `make abi`
	$(Q)tests/abi.sh $(LIB_SO) $(TARGET) --record tests/abi/$(VERSION)-$(TARGET).abi
hardening: $(LIB_A) $(LIB_SO) ## RELRO, stack protector, fortified calls, BTI, PAC; with HARDEN=1 PAC everywhere
	$(Q)tests/hardening.sh $(READELF) $(NM) $(OBJDUMP) $(LIB_SO) $(LIB_A) $(filter $(UNSIGNED:%=$(BUILD)/%.o),$(LIB_OBJ))
# A static program takes what it uses of the library. With musl a C library takes less than with others.
STATIC_BYTES := $(if $(MUSL_FLAGS),1500000,2000000)
.PHONY: static-size
static-size: $(BUILD)/examples/matmul.o $(EXAMPLE_SUPPORT) $(LIB_A) ## a static program that multiplies matrices is small
	$(Q)$(CC) $(ALL_LDFLAGS) -static -Wl,--gc-sections -o $(BUILD)/matmul-static $^ $(LIBS)
	$(Q)! $(NM) $(BUILD)/matmul-static | grep -E ' (convolution|pooling|softmax|reorder)_operation$$' || \
	    { echo 'static-size: what multiplies matrices takes other operations, too'; exit 1; }
	$(Q)$(OBJCOPY) --strip-all $(BUILD)/matmul-static
	$(Q)bytes=$$(stat -c %s $(BUILD)/matmul-static) && echo "static-size: $$bytes bytes, at most $(STATIC_BYTES)" && \
	    [ $$bytes -le $(STATIC_BYTES) ]
# Kernels of later instruction sets are objects of their own, and are called only where there are such.
baseline: $(LIB_OBJ) ## no object has instructions that its CPUs may lack
	$(Q)$(if $(filter aarch64,$(TARGET)),$(PYTHON) tests/baseline.py $(OBJDUMP) $(LIB_OBJ))
.PHONY: mutants mutants-fit
mutants-fit: ## the table of faults fits the files: whoever changes a line that has one changes the table
	$(Q)$(PYTHON) tests/mutants.py --list
mutants: ## hours: faults put into the code on purpose, one at a time, are noticed (tests/mutants.txt, ONLY=word, RESUME=1)
	$(Q)$(PYTHON) tests/mutants.py $(if $(ONLY),--only '$(ONLY)') $(if $(RESUME),--resume)
# The other analyzers read the portable build, which has no kernels.
ANALYZED := $(patsubst %.c,$(BUILD)-analyzed/%.o,$(filter %.c,$(KERNELS_ALL)))
analyze: ## gcc's static analysis of the kernels
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)-analyzed CFLAGS=-fanalyzer WERROR=-Werror $(ANALYZED)
# Found without git, which an archive of a release does not have.
C_FILES = $(shell find * -path build -prune -o -name '*.[ch]' -print)
format: ## rewrite all C files in the house format
	clang-format -i $(C_FILES)
lint: $(JUDGED) layers symbols abi hardening static-size baseline analyze docs ## clang-format, clang-tidy, gcc's analysis, cppcheck, pyflakes, layers, circles, symbols, ABI, hardening, size, the reference, documented variables
	$(Q)clang-format --dry-run --Werror $(C_FILES)
	$(Q)tests/lint.sh
