// SPDX-License-Identifier: Apache-2.0
#include "agents/move/digest_wire.h"

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {
namespace {

void EncodeSide(const SideDigests& in, wire::SideDigests* out) {
  for (const auto& [tensor, sum] : in.sums) {
    auto* row = out->add_sums();
    row->set_tensor(tensor);
    row->set_sum(sum);
  }
  wire::GroupHashes* row = nullptr;
  const GroupHash* last = nullptr;
  for (const GroupHash& hash : in.groups) {
    if (last == nullptr || last->device != hash.device) {
      row = out->add_devices();
      Encode(hash.device, row->mutable_device());
    }
    row->add_groups(hash.group);
    row->add_hashes(hash.hash);
    last = &hash;
  }
}

Result<SideDigests> DecodeSide(const wire::SideDigests& in) {
  SideDigests out;
  for (const wire::TensorSum& row : in.sums()) out.sums[row.tensor()] += row.sum();
  for (const wire::GroupHashes& row : in.devices()) {
    TESSERA_TRY(const ptc::DeviceId device, Decode(row.device()));
    if (row.groups_size() != row.hashes_size()) {
      return InvalidArgument("hashes of " + ToString(device) + " without their groups");
    }
    for (int i = 0; i < row.groups_size(); ++i) {
      out.groups.push_back({device, row.groups(i), row.hashes(i)});
    }
  }
  return out;
}

}  // namespace

void EncodeDigests(const std::vector<DeviceDigests>& in,
                   google::protobuf::RepeatedPtrField<wire::CellDigests>* out) {
  for (const DeviceDigests& device : in) {
    auto* row = out->Add();
    Encode(device.device, row->mutable_device());
    row->mutable_digests()->Add(device.digests.begin(), device.digests.end());
  }
}

Result<std::vector<DeviceDigests>> DecodeDigests(
    const google::protobuf::RepeatedPtrField<wire::CellDigests>& in) {
  std::vector<DeviceDigests> out;
  for (const wire::CellDigests& row : in) {
    TESSERA_TRY(const ptc::DeviceId device, Decode(row.device()));
    out.push_back({device, {row.digests().begin(), row.digests().end()}});
  }
  return out;
}

void Encode(const StateDigests& in, wire::StateDigestSides* out) {
  if (in.has_before) EncodeSide(in.before, out->mutable_before());
  if (in.has_after) EncodeSide(in.after, out->mutable_after());
}

Result<StateDigests> Decode(const wire::StateDigestSides& in) {
  StateDigests out;
  out.has_before = in.has_before();
  out.has_after = in.has_after();
  TESSERA_TRY(out.before, DecodeSide(in.before()));
  TESSERA_TRY(out.after, DecodeSide(in.after()));
  return out;
}

}  // namespace tessera::agents
