# Element-wise kernels with every f32. An emulator would take days: on x86 the kernels of AArch64 are compiled for it, by
# intrinsics that give the same bits (AVX2 and FMA), and compared with the C library's functions of vectors.
SWEEP_SRC := tests/sweep/sweep.c tests/support/cases/eltwise_bounds.c kernels/elementwise/f32/eltwise_neon.c
SWEEP_OBJ := $(SWEEP_SRC:%.c=build/sweep/%.o)
SWEEP_ARM_OBJ := $(SWEEP_SRC:%.c=build/sweep-arm/%.o)
SWEEP_FLAGS = -std=c11 -D_GNU_SOURCE -g -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -DNEO_PORTABLE=0 -MMD -MP \
    $(WARNINGS) $(WERROR) -I.
X86_FLAGS := $(if $(IS_ARM_HOST),,-mavx2 -mfma -isystem tests/sweep/x86)
build/sweep/tests/support/cases/eltwise_bounds.o: private X86_FLAGS += $(if $(IS_ARM_HOST),,-include tests/sweep/x86/vector_math.h)
$(SWEEP_OBJ): build/sweep/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)gcc $(SWEEP_FLAGS) $(X86_FLAGS) -c -o $@ $<
$(SWEEP_ARM_OBJ): build/sweep-arm/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)aarch64-linux-gnu-gcc $(SWEEP_FLAGS) -c -o $@ $<
build/sweep/sweep: $(SWEEP_OBJ)
	$(call say,LD,$@)gcc -o $@ $^ -lm
build/sweep-arm/sweep: $(SWEEP_ARM_OBJ)
	$(call say,LD,$@)aarch64-linux-gnu-gcc -o $@ $^ -lm
-include $(SWEEP_OBJ:.o=.d) $(SWEEP_ARM_OBJ:.o=.d)

# One process a function, so that each processor has one.
SWEPT ?= $(shell sed -n 's/^ *X.NEO_ELTWISE_[A-Z0-9_]*, "\([a-z0-9_]*\)".*/\1/p' include/neoprene/attributes.h)
.PHONY: check-sweep check-sweep-bits $(SWEPT:%=check-sweep/%)
check-sweep: $(SWEPT:%=check-sweep/%) $(if $(IS_ARM_HOST),,check-sweep-bits) ## element-wise functions with every f32 (an hour of processor time; SWEPT='exp tanh')
$(SWEPT:%=check-sweep/%): check-sweep/%: build/sweep/sweep
	$(Q)$< $*
check-sweep-bits: build/sweep/sweep build/sweep-arm/sweep # do the kernels give the same bits on both?
	$(Q)build/sweep/sweep --hash > build/sweep/hashes
	$(Q)qemu-aarch64 build/sweep-arm/sweep --hash | cmp - build/sweep/hashes
