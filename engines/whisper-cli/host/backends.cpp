// Loads ggml's backends, such as CPU variants, from the folder of the program. ggml's own function also takes them
// from the working directory and from GGML_BACKEND_PATH.
#include "ggml-backend.h"

#include <climits>
#include <cstdlib>
#include <string>
#include <unistd.h>

void load_own_backends(void) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return;
    const std::string program(path, static_cast<size_t>(length));
    unsetenv("GGML_BACKEND_PATH");
    ggml_backend_load_all_from_path(program.substr(0, program.rfind('/') + 1).c_str());
}
