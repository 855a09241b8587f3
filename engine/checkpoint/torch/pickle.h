// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads Python pickles of protocols 2 to 5 as data. Nothing is imported, called or constructed. A
/// call is kept as the name of the callable and its arguments.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/torch/globals.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

class PickleReader;

/// All values of a pickle. The pickle owns them, so a list that contains itself does not leak. A
/// value may occur in many places, so every walk through values must be bounded. Immutable.
/// \threadsafety Any thread.
class Pickle {
 public:
  enum class Kind : std::uint8_t {
    kNone,
    kBool,
    kInteger,     // fits int64
    kBigInteger,  // beyond int64; text() is its little-endian two's complement
    kFloat,
    kText,  // as it is in the pickle; not checked to be UTF-8
    kBytes,
    kTuple,
    kList,
    kSet,
    kDict,        // items: key, value, key, value, … as set; of equal keys the last one counts
    kGlobal,      // a class or a function, by its name
    kObject,      // items: the global, a tuple of arguments, and the state if one was set
    kPersistent,  // items: the id of an object outside the pickle
  };

  /// A value of a pickle; as cheap as a pointer.
  /// \pre the Pickle outlives it
  class Value {
   public:
    Kind kind() const;
    bool is(Kind kind) const { return this->kind() == kind; }
    /// kBool: 0 or 1.
    /// \pre kBool, kInteger
    std::int64_t integer() const;
    /// \pre kFloat
    double number() const;
    /// \pre kText, kBytes, kBigInteger
    std::string_view text() const;
    /// \pre kGlobal
    const KnownGlobal& global() const;
    /// The number of items; 0 for kinds without items.
    std::size_t size() const;
    /// \pre i < size()
    Value operator[](std::size_t i) const;
    /// Returns the value of a text key, or nullopt if there is none or this is not a dict. Searches
    /// the last kMaxFields keys, which is more than the objects of checkpoints have.
    std::optional<Value> Find(std::string_view key) const;

    /// Whether this is the global, or an object made by calling it.
    bool IsObject(Global global) const;
    /// \pre kObject
    Value arguments() const { return (*this)[1]; }
    std::optional<Value> state() const;

    /// kInvalidArgument "FILE: byte N: message". N is the byte of the opcode that made the value.
    Error At(std::string_view message) const;

   private:
    friend class Pickle;
    Value(const Pickle* pickle, std::uint32_t id) : pickle_(pickle), id_(id) {}
    const Pickle* pickle_;
    std::uint32_t id_;
  };

  /// Reads a pickle of at most kMaxBytes and kMaxValues that ends with the bytes. Uses memory in
  /// proportion to the bytes read.
  /// \param name of the file, for errors
  /// \param begin offset of the bytes in the file, for errors
  /// \error kInvalidArgument "FILE: byte N: …" for truncated bytes, an opcode of another
  ///     protocol or one that executes, operands of the wrong kind, a global whose name is longer
  ///     than kMaxGlobalName, more than kMaxUnknown globals that are not known
  static Result<std::shared_ptr<const Pickle>> Read(std::string name, std::int64_t begin,
                                                    std::string bytes);

  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 29;
  static constexpr std::size_t kMaxFields = 64;
  static constexpr std::size_t kMaxValues = std::size_t{1} << 25;
  static constexpr std::size_t kMaxUnknown = std::size_t{1} << 16;
  static constexpr std::size_t kMaxGlobalName = 512;

  Value root() const { return {this, root_}; }
  /// The globals that are not known, as the pickle names them, printable; ascending and distinct.
  std::vector<std::string> UnknownGlobals() const;

 private:
  friend class PickleReader;
  static constexpr std::uint32_t kNoItems = UINT32_MAX;

  struct Node {
    Kind kind = Kind::kNone;
    std::uint32_t position = 0;  // of the opcode in bytes_
    std::uint32_t extra = 0;     // size of a text; index into lists_, kNoItems for none
    std::uint64_t payload = 0;   // an integer, the bits of a float, the offset of a text, a global
  };

  Pickle(std::string name, std::int64_t begin, std::string bytes)
      : name_(std::move(name)), begin_(begin), bytes_(std::move(bytes)) {}

  std::string name_;
  std::int64_t begin_;
  std::string bytes_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> lists_;
  std::vector<KnownGlobal> unknown_;  // their names are in bytes_; numbered after the known ones
  std::uint32_t root_ = 0;
};
using PicklePtr = std::shared_ptr<const Pickle>;

}  // namespace tessera::checkpoint
