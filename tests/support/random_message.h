// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Messages of the wire with random contents.

#include <google/protobuf/message.h>

#include <random>
#include <string>
#include <vector>

namespace tessera::test {

/// Sets about half of the fields at random: numbers that are small, large or negative, and texts of
/// `words` or of random bytes. Of a oneof it sets at most one field.
void FillAtRandom(google::protobuf::Message& message, std::mt19937_64& random,
                  const std::vector<std::string>& words);

/// The fields of the oneof `body` of a message: its kinds.
std::vector<const google::protobuf::FieldDescriptor*> KindsOf(
    const google::protobuf::Message& message);

/// Makes `message` one of the kind `kind`, filled at random.
void FillKind(google::protobuf::Message& message, const google::protobuf::FieldDescriptor* kind,
              std::mt19937_64& random, const std::vector<std::string>& words);

}  // namespace tessera::test
