// SPDX-License-Identifier: Apache-2.0
// artifact/io/byte_source.hpp - bytes that are read once, in order: a blob in a file or in a bundle.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// A sequence of bytes. Serves one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills (part of) `into`, at least one byte; returns 0 at the end. Errors: those of the system.
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;
};

/// A file from its present offset on. Errors call it `name`.
class FileSource final : public ByteSource {
 public:
  FileSource(Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  Fd fd_;
  std::string name_;
};

/// Opens a file and tells the kernel that it will be read in order.
Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path);

}  // namespace slipway::artifact
