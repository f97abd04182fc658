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
READELF ?= $(CROSS_COMPILE)readelf
# Return addresses are signed by an algorithm of the emulator's own: the architecture's takes four times as long
# as all that tests with many small functions do.
EMULATOR ?= $(if $(CROSS),qemu-aarch64 -cpu $(EMULATED_CPU:max=max,pauth-impdef=on))
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
# Sanitizers see as much with -O1, and compile in three quarters of the time.
OPT ?= $(if $(filter 1,$(DEBUG)),-O0,$(if $(SAN),-O1,-O2))
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
TARGET_FLAGS := $(if $(CROSS),$(if $(IS_CLANG),--target=aarch64-linux-gnu)) \
    $(if $(filter portable,$(TARGET)),-DNEO_PORTABLE=1,-DNEO_PORTABLE=0)
# Debian's musl has no headers of the kernel: they are where those of the other C library are.
MUSL_FLAGS := $(if $(findstring musl,$(notdir $(CC))),$(if $(CROSS),-idirafter /usr/aarch64-linux-gnu/include) -idirafter /usr/include -idirafter /usr/include/$(HOST)-linux-gnu)
# Objects of sanitizers are large, and linking reads them: lines of the source are in them, variables are not.
CFLAGS ?= $(if $(SAN),-g1,-g)
# What makes mistakes harder to exploit (tests/hardening.sh). On AArch64 all of the library has marks
# where calls by address may go (BTI), and functions that call others sign their return addresses (PAC), but for
# kernels and what every call of a small primitive goes through (docs/limits.md). Checks of the stack and of
# copies are where files, the environment and other processes are read. HARDEN=1 has all of it everywhere, and
# small calls then take up to 12 % more instructions.
CHECKS := $(if $(SAN)$(filter 1,$(DEBUG)),,-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
IS_ARM := $(if $(filter aarch64,$(TARGET)),yes)
SIGNS := $(if $(IS_ARM),-mbranch-protection=standard)
MARKS := $(if $(IS_ARM),-mbranch-protection=bti)
HARDENING := $(if $(filter 1,$(HARDEN)),$(CHECKS) $(SIGNS))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(HARDENING) -ffp-contract=off -fPIC -fvisibility=hidden \
    -ffunction-sections -fdata-sections -pthread -MMD -MP \
    $(WARNINGS) $(WERROR) $(TARGET_FLAGS) $(SAN_FLAGS) -Iinclude -I. $(MUSL_FLAGS) $(FOLDER_FLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(TARGET_FLAGS) $(SAN_FLAGS) -pthread -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
LIBS := -lm -ldl
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(patsubst $(BUILD)/%,%,$(2));)

# ---- sources: a kernel file's last word is its instruction set -------------------------------------
ISA_neon :=
ISA_fp16 := -march=armv8.2-a+fp16
ISA_fhm := -march=armv8.2-a+fp16+fp16fml
ISA_dotprod := -march=armv8.2-a+dotprod
ISA_bf16 := -march=armv8.2-a+fp16+bf16
ISA_i8mm := -march=armv8.2-a+fp16+dotprod+i8mm
ISA_ref := -fno-tree-vectorize
ISA_generic := -O3 -ffp-contract=fast
ARM_ISAS := neon fp16 fhm dotprod bf16 i8mm
sources_in = $(sort $(shell find $(1) -name '*.[cS]'))
KERNELS_ALL := $(call sources_in,kernels)
KERNELS_ARM := $(foreach isa,$(ARM_ISAS),$(filter %_$(isa).c %_$(isa).S %/$(isa).c %/$(isa).S,$(KERNELS_ALL)))
KERNELS_PORTABLE := $(filter %/generic.c,$(KERNELS_ALL))
KERNELS := $(filter-out $(if $(filter portable,$(TARGET)),$(KERNELS_ARM),$(KERNELS_PORTABLE)),$(KERNELS_ALL))
LIB_SRC := $(call sources_in,arch src) $(KERNELS)
LIB_OBJ := $(addprefix $(BUILD)/,$(addsuffix .o,$(basename $(LIB_SRC))))
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
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile $(RULES) | expand -t 24
	@echo '  TARGET=aarch64|portable  CC=gcc|clang  SAN=address,undefined|thread  V=1  DEBUG=1  WERROR=-Werror'
	@echo '  CROSS_COMPILE=  EMULATOR=  EMULATED_CPU=cortex-a53|neoverse-n1|max  PREFIX=  DESTDIR=  (or in config.mk)'

packages: ## install what is missing (Debian; DRY_RUN=1 only prints it)
	$(Q).ci/install-packages $(if $(DRY_RUN),--dry-run)

# ---- compile and link ----------------------------------------------------------------------------
# The stamp holds the whole command, and flags of folders, which are not CFLAGS, so that a user's CFLAGS
# leave them alone; it changes only when the flags do, and then everything rebuilds.
FLAGS = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(MARKS) $(SIGNS) $(UNSIGNED) $(CHECKS) $(SRC_FLAGS) $(LANES_FLAGS) $(SMALL)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
.PHONY: FORCE

isa_of = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $(1))))))
$(BUILD)/kernels/%.o: kernels/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) -c -o $@ $<
# gcc would load all lines first, and then copy sums from register to register.
LANES_FLAGS := $(if $(IS_CLANG),,-fno-schedule-insns -fno-tree-coalesce-vars -fno-tree-pre)
$(BUILD)/kernels/depthwise/f32/lanes/lanes_tiles_neon.o: private FOLDER_FLAGS += $(LANES_FLAGS)
# clang nests macros of assembly 20 deep, unless it is told otherwise.
AS_FLAGS := -Wno-variadic-macros $(if $(IS_CLANG),-mllvm -asm-macro-max-nesting-depth=100)
$(BUILD)/kernels/%.o: kernels/%.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(ALL_CFLAGS) $(call isa_of,$<) $(AS_FLAGS) -c -o $@ $<
# Descriptors are compared by pairs of words, which clang would put into vectors and take out of them again.
SRC_FLAGS := -fno-align-functions $(if $(IS_CLANG),-fno-slp-vectorize)
$(BUILD)/src/%.o: private FOLDER_FLAGS += $(SRC_FLAGS)
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -c -o $@ $<

include src/flags.mk

# Hidden symbols become local in the static library too, so that only neo_* can clash with a user's. Sections
# stay apart, or functions of one name in two files would be one that a program takes whole.
APART := -Wl$(subst .,$(comma)--unique=.,.text*.rodata*.data*.bss*)
$(BUILD)/neoprene.o: $(LIB_OBJ)
	$(call say,LD,$@)$(CC) $(TARGET_FLAGS) -nostdlib -r '$(APART)' -o $@ $^ && $(OBJCOPY) --localize-hidden $@
$(LIB_A): $(BUILD)/neoprene.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(INTERNAL_A): $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^
# What only tests call is in no library that others link.
EXPORTS := src/neoprene.map
$(LIB_SO): $(LIB_OBJ) $(EXPORTS)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,--gc-sections -Wl,-soname,libneoprene.so.$(SOVERSION) \
	    -Wl,--version-script=$(EXPORTS) -o $@ $(LIB_OBJ) $(LIBS)

# benchdnn, tools and examples see what users see.
$(BUILD)/benchdnn/benchdnn: $(BENCHDNN_OBJ) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lopenblas $(LIBS) && ln -sfn $(CURDIR)/benchdnn/inputs $(@D)/inputs
$(BUILD)/tools/%: $(BUILD)/tools/%.o $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
EXAMPLE_SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard examples/support/*.c))
$(BUILD)/examples/%: $(BUILD)/examples/%.o $(EXAMPLE_SUPPORT) $(LIB_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# ---- installing, tests, benches, analysis: rules beside what they build ----------------------------
# In this order: a list of prerequisites is read where it stands, so what it names comes before it.
RULES := tools/install.mk compat/compat.mk tests/tests.mk tests/fuzz/fuzz.mk tests/bench/bench.mk tests/perf/perf.mk tests/sweep/sweep.mk benchdnn/benchdnn.mk tests/analysis.mk
include $(RULES)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
