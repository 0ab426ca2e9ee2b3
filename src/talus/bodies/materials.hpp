// Materials and what happens where two of them meet.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

/// The contact law of one pair of materials. Further laws (cohesion, rolling, restitution) are new members.
struct ContactLaw {
  Real friction = 0;  ///< Coulomb's μ
};

struct Material {
  std::string name;
  Real density = 0;  ///< kg/m³; used where a body gives neither mass nor density
  ContactLaw law;
};

class Materials {
 public:
  Local add(Material material);
  /// The index of a name, −1 when there is none.
  Local find(const std::string& name) const;
  const Material& operator[](Local i) const { return list_[i]; }
  Local size() const { return static_cast<Local>(list_.size()); }

  /// Sets the law where materials a and b meet, in either order.
  void set_pair(Local a, Local b, ContactLaw law);
  /// The override of the pair where there is one, else the smaller friction of the two.
  const ContactLaw& pair(Local a, Local b) const { return table_[a * size() + b]; }

 private:
  void rebuild();
  std::vector<Material> list_;
  std::map<std::pair<Local, Local>, ContactLaw> overrides_;
  std::vector<ContactLaw> table_;  ///< size² laws, so that detection looks up without a search
};

}  // namespace talus
