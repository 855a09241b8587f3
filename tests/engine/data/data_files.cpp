// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/data/data_files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace tessera::test {

std::uint32_t SlowCrc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (crc & 1U) != 0;
      crc >>= 1U;
      if (carry) crc ^= 0x82F63B78U;
    }
  }
  return ~crc;
}

namespace {
std::string Masked(std::string_view bytes) {
  const std::uint32_t crc = SlowCrc32c(bytes);
  return Raw<std::uint32_t>(((crc >> 15U) | (crc << 17U)) + 0xa282ead8U);
}
std::string Delimited(int number, std::string_view value) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (std::size_t size = value.size();; size >>= 7) {
    out += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
    if (size <= 0x7f) break;
  }
  return out.append(value);
}
}  // namespace

std::string TfRecordFrame(std::string_view data) {
  const std::string length = Raw<std::uint64_t>(data.size());
  return length + Masked(length) + std::string(data) + Masked(data);
}

std::string Example(std::string_view feature, std::string_view value) {
  const std::string list = Delimited(1, Delimited(1, value));
  return Delimited(1, Delimited(1, Delimited(1, feature) + Delimited(2, list)));
}

std::string TarMemberBytes(std::string_view name, std::string_view data, char type) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", data.size());
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  put(148, std::string_view(checksum, 7));
  std::string body(data);
  body.resize((data.size() + 511) / 512 * 512);
  return header + body;
}

std::string MegatronIdx(const std::vector<std::int32_t>& lengths, int code, int item) {
  std::vector<std::int64_t> pointers, documents{0};
  std::int64_t at = 0;
  for (const std::int32_t length : lengths) {
    pointers.push_back(at);
    documents.push_back(static_cast<std::int64_t>(documents.size()));
    at += std::int64_t{length} * item;
  }
  return MegatronIdx(lengths, pointers, documents, code);
}

std::string MegatronIdx(const std::vector<std::int32_t>& lengths,
                        const std::vector<std::int64_t>& pointers,
                        const std::vector<std::int64_t>& documents, int code) {
  std::string out("MMIDIDX\0\0", 9);
  out += Raw<std::uint64_t>(1) + static_cast<char>(code);
  out += Raw<std::uint64_t>(lengths.size()) + Raw<std::uint64_t>(documents.size());
  for (const std::int32_t length : lengths) out += Raw(length);
  for (const std::int64_t pointer : pointers) out += Raw(pointer);
  for (const std::int64_t document : documents) out += Raw(document);
  return out;
}

std::string SomeLetters(std::mt19937_64& rng, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + rng() % 26);
  return text;
}

void WriteBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

Status MemorySource::ReadAt(std::int64_t offset, std::span<std::byte> out) const {
  // A request for bytes outside breaks the contract, so it is a defect of the code under test.
  if (offset < 0 || offset > size_bytes() ||
      static_cast<std::int64_t>(out.size()) > size_bytes() - offset) {
    std::abort();
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return OkStatus();
}

engine::ByteSourcePtr InMemory(std::string name, std::string bytes) {
  return std::make_shared<const MemorySource>(std::move(name), std::move(bytes));
}

std::string AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string AsText(const std::vector<std::int32_t>& tokens) {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token == 0) break;
    text += static_cast<char>(token);
  }
  return text;
}

}  // namespace tessera::test
