#include "instances.hpp"

namespace posterior {

POSTERIOR_INSTANCES()

}  // namespace posterior
