#include "talus/bodies/materials.hpp"

#include <algorithm>

namespace talus {

Local Materials::add(Material material) {
  list_.push_back(std::move(material));
  rebuild();
  return size() - 1;
}

Local Materials::find(const std::string& name) const {
  for (Local i = 0; i < size(); ++i)
    if (list_[i].name == name) return i;
  return -1;
}

void Materials::set_pair(Local a, Local b, ContactLaw law) {
  overrides_[std::minmax(a, b)] = law;
  rebuild();
}

void Materials::rebuild() {
  table_.resize(static_cast<std::size_t>(size()) * size());
  for (Local a = 0; a < size(); ++a)
    for (Local b = 0; b < size(); ++b) {
      const auto it = overrides_.find(std::minmax(a, b));
      table_[a * size() + b] = it != overrides_.end()
                                   ? it->second
                                   : ContactLaw{std::min(list_[a].law.friction, list_[b].law.friction)};
    }
}

}  // namespace talus
