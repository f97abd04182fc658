# Other libraries' interfaces on Neoprene, and the programs that use them.

# Packages of Debian 13 for arm64, unpacked into folders of their own; compat/packages/ has a list for each purpose.
CLIENTS_ROOT := build/clients
PEERS_ROOT := build/peers
packages_of = $(shell grep -v '^\#' compat/packages/$(1))
.PHONY: clients peers
clients: ## unpack arm64 programs that use oneDNN and BLAS (PyTorch, ONNX Runtime, numpy): 240 MB to fetch, 1.1 GB unpacked
	$(Q)compat/unpack.sh $(CLIENTS_ROOT) $(call packages_of,clients)
peers: ## unpack arm64 libraries to compare with (OpenBLAS, BLIS, XNNPACK, ACL, KleidiAI, oneDNN, ONNX Runtime)
	$(Q)compat/unpack.sh $(PEERS_ROOT) $(call packages_of,peers)
