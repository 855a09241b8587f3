// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Python pickles of protocols 2 to 5, read as data. Nothing is imported, called or constructed:
/// a call is kept as the name of what would be called, from a whitelist, and its arguments.

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

/// All values of one pickle. It owns them, so lists that contain themselves are no leak; a value
/// may stand in many places, so who walks through values bounds the walk. Immutable; any thread.
class Pickle {
 public:
  enum class Kind : std::uint8_t {
    kNone,
    kBool,
    kInteger,     // fits int64
    kBigInteger,  // does not; text() is its little-endian two's complement
    kFloat,
    kText,  // UTF-8 as the pickle has it, unchecked
    kBytes,
    kTuple,
    kList,
    kSet,
    kDict,    // items: key, value, key, value, … as they were set; the last of equal keys counts
    kGlobal,  // a name of the whitelist
    kObject,  // items: the global, a tuple of arguments, and the state where it was given one
    kPersistent,  // items: the id by which the file refers to what lies outside of the pickle
  };

  /// A value of a pickle; as cheap as a pointer. \pre the Pickle outlives it
  class Value {
   public:
    Kind kind() const;
    bool is(Kind kind) const { return this->kind() == kind; }
    /// kBool: 0 or 1. \pre kBool, kInteger
    std::int64_t integer() const;
    /// \pre kFloat
    double number() const;
    /// \pre kText, kBytes, kBigInteger
    std::string_view text() const;
    /// \pre kGlobal
    const KnownGlobal& global() const;
    /// Number of items; 0 for what has none.
    std::size_t size() const;
    /// \pre i < size()
    Value operator[](std::size_t i) const;
    /// The value of a key that is text; nullopt if there is none, or the value is no dict. Looks
    /// at the last kMaxFields keys, which is more than the objects of checkpoints have.
    std::optional<Value> Find(std::string_view key) const;

    /// Whether this is an object of that class or function, or the global itself.
    bool IsObject(Global global) const;
    /// \pre kObject
    Value arguments() const { return (*this)[1]; }
    std::optional<Value> state() const;

    /// kInvalidArgument "FILE: byte N: message", N being where the value was made.
    Error At(std::string_view message) const;

   private:
    friend class Pickle;
    Value(const Pickle* pickle, std::uint32_t id) : pickle_(pickle), id_(id) {}
    const Pickle* pickle_;
    std::uint32_t id_;
  };

  /// Reads a pickle that ends with the bytes. `name` and `begin` (where the bytes start in the
  /// file) are for messages. At most kMaxBytes and kMaxValues; memory grows with the bytes read.
  /// \error kInvalidArgument "FILE: byte N: …": cut short, an opcode of another protocol or one
  ///     that executes, operands of the wrong kind, `global 'os.system' is not one a checkpoint
  ///     needs`
  static Result<std::shared_ptr<const Pickle>> Read(std::string name, std::int64_t begin,
                                                    std::string bytes);

  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 29;
  static constexpr std::size_t kMaxFields = 64;
  static constexpr std::size_t kMaxValues = std::size_t{1} << 25;

  Value root() const { return {this, root_}; }

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
  std::uint32_t root_ = 0;
};
using PicklePtr = std::shared_ptr<const Pickle>;

}  // namespace tessera::checkpoint
