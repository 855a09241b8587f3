// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <utility>

#include "engine/checkpoint/torch/pickle_reader.h"
#include "ptc/base/utf8.h"

namespace tessera::checkpoint {

using Kind = Pickle::Kind;

Status PickleReader::StepConstant(unsigned char opcode) {
  switch (opcode) {
    case 'N':
      return Push(Kind::kNone);
    case 0x88:  // NEWTRUE
      return Push(Kind::kBool, 1);
    case 0x89:  // NEWFALSE
      return Push(Kind::kBool, 0);
    case 'J': {  // BININT
      TESSERA_TRY(const std::uint64_t value, TakeUnsigned(4));
      return PushInteger(std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
    }
    case 'K':    // BININT1
    case 'M': {  // BININT2
      TESSERA_TRY(const std::uint64_t value, TakeUnsigned(opcode == 'K' ? 1 : 2));
      return Push(Kind::kInteger, value);
    }
    case 0x8a:    // LONG1
    case 0x8b: {  // LONG4
      TESSERA_TRY(const std::uint64_t size, TakeUnsigned(opcode == 0x8a ? 1 : 4));
      return PushLong(size);
    }
    case 'I': {  // INT
      TESSERA_TRY(const std::string_view line, TakeLine());
      if (line == "00" || line == "01") return Push(Kind::kBool, line == "01" ? 1 : 0);
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
      if (error != std::errc() || end != line.data() + line.size()) {
        return At(fmt::format("'{}' is not an integer", Escaped(line)));
      }
      return PushInteger(value);
    }
    default: {  // BINFLOAT, big-endian
      TESSERA_TRY(const std::string_view raw, Take(8));
      std::uint64_t bits = 0;
      for (const char c : raw) bits = bits << 8 | static_cast<unsigned char>(c);
      return Push(Kind::kFloat, bits);
    }
  }
}

Status PickleReader::StepText(unsigned char opcode) {
  std::size_t size_bytes = 8;  // BINUNICODE8, BINBYTES8, BYTEARRAY8
  Kind kind = Kind::kText;
  switch (opcode) {
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING: text of Python 2
      size_bytes = 1;
      break;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      size_bytes = 4;
      break;
    case 'C':  // SHORT_BINBYTES
      size_bytes = 1;
      kind = Kind::kBytes;
      break;
    case 'B':  // BINBYTES
      size_bytes = 4;
      kind = Kind::kBytes;
      break;
    case 0x8d:  // BINUNICODE8
      break;
    default:  // BINBYTES8, BYTEARRAY8
      kind = Kind::kBytes;
      break;
  }
  TESSERA_TRY(const std::uint64_t size, TakeUnsigned(size_bytes));
  return PushText(kind, size);
}

Status PickleReader::StepContainer(unsigned char opcode) {
  switch (opcode) {
    case ')':
      return PushItems(Kind::kTuple, {});
    case ']':
      return PushItems(Kind::kList, {});
    case '}':
      return PushItems(Kind::kDict, {});
    case 0x8f:  // EMPTY_SET
      return PushItems(Kind::kSet, {});
    case 0x85:    // TUPLE1
    case 0x86:    // TUPLE2
    case 0x87: {  // TUPLE3
      TESSERA_TRY(auto items, PopMany(opcode - 0x84U));
      return PushItems(Kind::kTuple, std::move(items));
    }
    case 'a': {  // APPEND
      TESSERA_TRY(const auto items, PopMany(1));
      return AddTo(Kind::kList, items);
    }
    case 's': {  // SETITEM
      TESSERA_TRY(const auto items, PopMany(2));
      return AddTo(Kind::kDict, items);
    }
    default:
      break;
  }
  TESSERA_TRY(auto items, PopToMark());
  switch (opcode) {
    case 't':  // TUPLE
      return PushItems(Kind::kTuple, std::move(items));
    case 'l':  // LIST
      return PushItems(Kind::kList, std::move(items));
    case 0x91:  // FROZENSET
      return PushItems(Kind::kSet, std::move(items));
    case 'd':  // DICT
      if (items.size() % 2 != 0) return At("a key of a dict has no value");
      return PushItems(Kind::kDict, std::move(items));
    case 'e':  // APPENDS
      return AddTo(Kind::kList, items);
    case 'u':  // SETITEMS
      return AddTo(Kind::kDict, items);
    default:  // ADDITEMS
      return AddTo(Kind::kSet, items);
  }
}

Status PickleReader::StepMemo(unsigned char opcode) {
  if (opcode == 0x94) return Put(memo_.size());  // MEMOIZE
  const bool is_short = opcode == 'q' || opcode == 'h';
  TESSERA_TRY(const std::uint64_t index, TakeUnsigned(is_short ? 1 : 4));
  return opcode == 'q' || opcode == 'r' ? Put(index) : Get(index);
}

Status PickleReader::StepObject(unsigned char opcode) {
  switch (opcode) {
    case 'c': {  // GLOBAL
      TESSERA_TRY(const std::string_view module, TakeLine());
      TESSERA_TRY(const std::string_view name, TakeLine());
      return PushGlobal(module, name);
    }
    case 0x93: {  // STACK_GLOBAL
      TESSERA_TRY(const auto names, PopMany(2));
      if (Look(names[0]).kind != Kind::kText || Look(names[1]).kind != Kind::kText) {
        return At("the name of a global is not text");
      }
      return PushGlobal(TextOf(Look(names[0])), TextOf(Look(names[1])));
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      TESSERA_TRY(const auto call, PopMany(2));
      return Call(call[0], call[1]);
    }
    case 0x92: {  // NEWOBJ_EX: class, arguments, keyword arguments
      TESSERA_TRY(const auto call, PopMany(3));
      const Pickle::Node& keywords = Look(call[2]);
      const Pickle::Node& what = Look(call[0]);
      const bool is_known = what.kind == Kind::kGlobal && what.payload < NumKnownGlobals();
      if (is_known && (keywords.kind != Kind::kDict || keywords.extra != Pickle::kNoItems)) {
        return At("an object is made from keyword arguments");
      }
      return Call(call[0], call[1]);
    }
    case 'b': {  // BUILD
      TESSERA_TRY(const std::uint32_t state, Pop());
      return Build(state);
    }
    default: {  // BINPERSID
      TESSERA_TRY(const std::uint32_t id, Pop());
      return PushItems(Kind::kPersistent, {id});
    }
  }
}

Result<PickleReader::Next> PickleReader::Step(unsigned char opcode) {
  Status status;
  switch (opcode) {
    case '.':  // STOP
      return Next::kStop;
    case 0x95: {  // FRAME: the bytes that a reader may fetch at once
      TESSERA_TRY(const std::uint64_t size, TakeUnsigned(8));
      if (size > bytes_.size() - at_) {
        return At(fmt::format("the pickle is cut short: a frame of {} bytes, {} are left", size,
                              bytes_.size() - at_));
      }
      break;
    }
    case '(':  // MARK
      if (marks_.size() >= kMaxMarks) {
        return At(fmt::format("the pickle nests deeper than {} marks", kMaxMarks));
      }
      marks_.push_back(stack_.size());
      break;
    case '0': {  // POP: a value, or the topmost mark if no value is above it
      if (Poppable() == 0 && !marks_.empty()) {
        marks_.pop_back();
        break;
      }
      TESSERA_RETURN_IF_ERROR(Pop());
      break;
    }
    case '1':  // POP_MARK
      TESSERA_RETURN_IF_ERROR(PopToMark());
      break;
    case '2':  // DUP
      if (Poppable() == 0) return At("an opcode finds the pickle's stack empty");
      status = Push(stack_.back());
      break;
    case 'N':
    case 0x88:
    case 0x89:
    case 'I':
    case 'J':
    case 'K':
    case 'M':
    case 'G':
    case 0x8a:
    case 0x8b:
      status = StepConstant(opcode);
      break;
    case 'U':
    case 'T':
    case 'X':
    case 'B':
    case 'C':
    case 0x8c:
    case 0x8d:
    case 0x8e:
    case 0x96:
      status = StepText(opcode);
      break;
    case ')':
    case ']':
    case '}':
    case 't':
    case 'l':
    case 'd':
    case 'a':
    case 'e':
    case 's':
    case 'u':
    case 0x85:
    case 0x86:
    case 0x87:
    case 0x8f:
    case 0x90:
    case 0x91:
      status = StepContainer(opcode);
      break;
    case 'q':
    case 'r':
    case 'h':
    case 'j':
    case 0x94:
      status = StepMemo(opcode);
      break;
    case 'c':
    case 'R':
    case 'b':
    case 'Q':
    case 0x81:
    case 0x92:
    case 0x93:
      status = StepObject(opcode);
      break;
    default:
      return At(fmt::format("opcode {:#04x} is not one that a checkpoint's pickle needs", opcode));
  }
  TESSERA_RETURN_IF_ERROR(std::move(status));
  return Next::kContinue;
}

}  // namespace tessera::checkpoint
