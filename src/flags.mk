# Which files of the library are compiled with flags of their own.
#
# Callers may have small stacks: a life of primitives fits into 64 KiB (tests/threading/stack.c), and no
# frame is above 2 KiB, but those of functions that have a line or a panel in the making.
frames_below = $(if $(SAN)$(filter 1,$(DEBUG) $(HARDEN)),,-Wframe-larger-than=$(1))
LIBRARY_FOLDERS := arch src kernels
$(LIBRARY_FOLDERS:%=$(BUILD)/%/%.o): private FOLDER_FLAGS += $(SIGNS) $(call frames_below,2048)
HAVE_LINES := $(addprefix src/,binary/binary convolution/direct/indirect_run \
    convolution/gemm/gemm convolution/gemm/typed_gather convolution/gemm/typed_patches convolution/nested/transposed_run deconvolution/columns \
    gemm/results gemm/ways/typed lines/copy lines/line lines/map lrn/lrn matmul/blocks/decompress matmul/direct/run \
    normalization/channels normalization/layer pooling/windows pooling/winners prelu/prelu \
    quantization/quantization reduction/reduction reorder/block_weights resampling/resampling softmax/softmax sum/sum) \
    $(addprefix kernels/depthwise/f32/,3x3_lines_neon 3x3_tiles_neon neon rows/row_neon)
$(HAVE_LINES:%=$(BUILD)/%.o): private FOLDER_FLAGS += $(call frames_below,16384)
UNSIGNED := $(if $(filter 1,$(HARDEN)),,kernels/% $(addprefix src/primitive/,apart by_size implementation_scratch primitive primitive_execute))
$(UNSIGNED:%=$(BUILD)/%.o): private FOLDER_FLAGS += $(MARKS)
CHECKED := arch src/core src/memory src/network src/packed src/tensor src/threading
$(CHECKED:%=$(BUILD)/%/%.o): private FOLDER_FLAGS += $(CHECKS)

# What runs while primitives are described, chosen and planned, files are kept and memory is reported, is compiled for
# size: a tenth of its machine code goes. What executes is not among it.
SMALL_FOLDERS := arch $(addprefix src/,memory/kinds memory/plan memory/shapes packed/file)
SMALL := $(addprefix src/,convolution/check convolution/convolution convolution/create convolution/layouts \
    convolution/nested/fused convolution/suppose convolution/trim convolution/types \
    $(addprefix convolution/depthwise/,depthwise pieces plan stay tiles typed) \
    $(addprefix convolution/,direct/indirect direct/rows nested/dilated) \
    $(addprefix convolution/winograd/,blocking cut threads traffic winograd) \
    core/env core/log deconvolution/deconvolution gemm/estimate gemm/fetching gemm/l1 gemm/order gemm/plan gemm/reciprocal \
    $(addprefix matmul/,check direct/columns direct/direct matmul types) \
    $(addprefix memory/,blocks/pool_report blocks/usage_report domain_report domain_source history limits limits_machine) \
    $(addprefix network/,dependency dependency_analysis finalize graph network plan poison refuse) \
    $(addprefix tensor/,block_layout depthwise_layout descriptor_make typed_layout winograd) \
    $(addprefix primitive/,attributes budget concrete cost engine inspect post_ops primitive_desc problem) \
    primitive/implementation primitive/problem_check primitive/quantization primitive/selection primitive/types \
    reorder/block_formats reorder/converted)
# Where there are kernels, the plain loops that define what kernels compute hardly run.
SMALL += $(if $(IS_ARM),$(basename $(filter %/ref.c %_ref.c,$(LIB_SRC))))
$(SMALL_FOLDERS:%=$(BUILD)/%/%.o) $(SMALL:%=$(BUILD)/%.o): private OPT := $(if $(filter -O2,$(OPT)),-Os,$(OPT))
# Where weights are found by their content it reads all of them at each call: loops over the sums are unrolled, so that
# they stay in registers; what else the hash's header has is not copied to wherever it is called.
$(BUILD)/src/packed/content_hash.o: private OPT := $(OPT) $(if $(findstring clang,$(CC)),,-fpeel-loops) -DXXH_NO_INLINE_HINTS=1
# Tiles have up to twelve sums: with loads scheduled before the products of several taps sums move between registers.
$(BUILD)/kernels/depthwise/f32/planes/copied_neon.o: private OPT := $(OPT) $(if $(findstring clang,$(CC)),,-fno-schedule-insns)
