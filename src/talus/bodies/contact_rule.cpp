#include "talus/bodies/contact_rule.hpp"

namespace talus {

const ContactRule& every_contact() {
  static const ContactRule rule;
  return rule;
}

}  // namespace talus
