// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

// A model that is small enough to be trained in a laboratory: one hidden layer, and points around
// centres in space, of which each class has several.
namespace example {

constexpr std::size_t inputs = 32;
constexpr std::size_t hidden = 192;
constexpr std::size_t classes = 8;
constexpr std::size_t hidden_weights = inputs * hidden;
constexpr std::size_t last_weights = hidden * classes;
// Weights and biases of the hidden layer, and of the last one. The last element is no part of the
// model: rank 0 gives it a gradient to end the training, and so all ranks that apply its sums see
// the end in the same place.
constexpr std::array<std::size_t, 5> layer_sizes = {hidden_weights, hidden, last_weights, classes,
                                                    1};

struct Point {
  std::array<float, inputs> place{};
  std::size_t kind = 0;
};

class Points {
 public:
  // All ranks have the same centres.
  Points() {
    std::mt19937 random(2024);
    std::normal_distribution<float> normal;
    for (auto& centre : centres_) {
      std::generate(centre.begin(), centre.end(), [&] { return normal(random); });
    }
  }
  Point draw(std::mt19937& random, std::size_t kind) const {
    std::normal_distribution<float> noise(0, 1.15F);
    Point point{centres_[kind * modes + random() % modes], kind};
    for (auto& coordinate : point.place) {
      coordinate += noise(random);
    }
    return point;
  }

 private:
  static constexpr std::size_t modes = 6;
  std::array<std::array<float, inputs>, classes * modes> centres_{};
};

// Views of the layers in one vector of parameters, or of gradients.
struct Layers {
  explicit Layers(std::span<float> all) {
    for (std::size_t layer = 0; layer < layer_sizes.size(); ++layer) {
      parts[layer] = all.first(layer_sizes[layer]);
      all = all.subspan(layer_sizes[layer]);
    }
  }
  std::array<std::span<float>, layer_sizes.size()> parts;
};

constexpr std::size_t parameter_count() {
  std::size_t count = 0;
  for (const auto size : layer_sizes) {
    count += size;
  }
  return count;
}

inline std::vector<float> initial_parameters() {
  std::mt19937 random(7);
  std::vector<float> all(parameter_count());
  const Layers layers(all);
  for (const std::size_t layer : {0u, 2u}) {
    const auto fan_in = static_cast<float>(layer == 0 ? inputs : hidden);
    std::normal_distribution<float> normal(0, std::sqrt(2 / fan_in));
    std::generate(layers.parts[layer].begin(), layers.parts[layer].end(),
                  [&] { return normal(random); });
  }
  return all;
}

struct Activations {
  std::array<float, hidden> inner{};
  std::array<float, classes> outer{};  // probabilities
};

inline Activations forward(const Layers& model, const Point& point) {
  Activations found;
  for (std::size_t h = 0; h < hidden; ++h) {
    float sum = model.parts[1][h];
    for (std::size_t i = 0; i < inputs; ++i) {
      sum += model.parts[0][h * inputs + i] * point.place[i];
    }
    found.inner[h] = std::max(sum, 0.0F);
  }
  for (std::size_t c = 0; c < classes; ++c) {
    float sum = model.parts[3][c];
    for (std::size_t h = 0; h < hidden; ++h) {
      sum += model.parts[2][c * hidden + h] * found.inner[h];
    }
    found.outer[c] = sum;
  }
  const auto greatest = *std::max_element(found.outer.begin(), found.outer.end());
  float total = 0;
  for (auto& value : found.outer) {
    value = std::exp(value - greatest);
    total += value;
  }
  for (auto& value : found.outer) {
    value /= total;
  }
  return found;
}

// Adds the gradient of the cross entropy of one point.
inline void backward(const Layers& model, const Point& point, const Layers& gradient) {
  const auto found = forward(model, point);
  std::array<float, hidden> inner{};
  for (std::size_t c = 0; c < classes; ++c) {
    const float error = found.outer[c] - (c == point.kind ? 1.0F : 0.0F);
    gradient.parts[3][c] += error;
    for (std::size_t h = 0; h < hidden; ++h) {
      gradient.parts[2][c * hidden + h] += error * found.inner[h];
      inner[h] += error * model.parts[2][c * hidden + h];
    }
  }
  for (std::size_t h = 0; h < hidden; ++h) {
    if (found.inner[h] > 0) {
      gradient.parts[1][h] += inner[h];
      for (std::size_t i = 0; i < inputs; ++i) {
        gradient.parts[0][h * inputs + i] += inner[h] * point.place[i];
      }
    }
  }
}

inline double accuracy(const Layers& model, std::span<const Point> points) {
  std::size_t right = 0;
  for (const auto& point : points) {
    const auto found = forward(model, point).outer;
    const auto best = std::max_element(found.begin(), found.end()) - found.begin();
    right += static_cast<std::size_t>(best) == point.kind ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(points.size());
}

}  // namespace example
