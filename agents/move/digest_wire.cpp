// SPDX-License-Identifier: Apache-2.0
#include "agents/move/digest_wire.h"

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

void EncodeDigests(const std::vector<DeviceDigests>& in,
                   google::protobuf::RepeatedPtrField<wire::CellDigests>* out) {
  for (const DeviceDigests& device : in) {
    auto* row = out->Add();
    Encode(device.device, row->mutable_device());
    row->mutable_digests()->Add(device.digests.begin(), device.digests.end());
  }
}

}  // namespace tessera::agents
