// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/shape.h"

#include "host/text.h"

namespace tributary::host {

Shape shape_of(const Call& call) {
  return {call.collective, call.buffers.type, call.buffers.op, call.root, call.buffers.count};
}

std::string to_string(const Shape& shape) {
  std::string text(name(shape.collective));
  if (shape.collective == Collective::barrier) {
    return text;
  }
  text += " of " + std::to_string(shape.count) + " " + std::string(wire::name(shape.type));
  const auto root = rank_text(shape.root);
  if (shape.collective == Collective::broadcast) {
    return text + " from " + root;
  }
  text += ", " + std::string(wire::name(shape.op));
  return shape.collective == Collective::reduce ? text + ", to " + root : text;
}

}  // namespace tributary::host
