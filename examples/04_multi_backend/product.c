/* Two random matrices and their product, as tensors. The backend is the one that is named, else
 * that of the environment (HOLOGRAM_BACKEND), else the best there is.
 * Usage: multi_backend_product [BACKEND] */
#include <hologram/hologram.h>
#include <stdio.h>

static hg_status multiply(hg_executor *e, hg_tensor **a, hg_tensor **b, hg_tensor **c) {
    const uint64_t shape[2] = {1000, 1000};
    hg_status status = hg_tensor_rand(e, HG_TYPE_F32, 1, shape, 2, a);
    if (status == HG_OK) status = hg_tensor_rand(e, HG_TYPE_F32, 2, shape, 2, b);
    if (status == HG_OK) status = hg_ops_matmul(e, *a, *b, c);
    return status;
}

int main(int argc, char **argv) {
    hg_config config;
    hg_executor *e = NULL;
    hg_tensor *a = NULL, *b = NULL, *c = NULL;
    hg_status status = hg_config_from_env(&config);
    if (argc > 1) snprintf(config.backend, sizeof config.backend, "%s", argv[1]);
    if (status == HG_OK) status = hg_executor_create_from_config(&config, &e);
    if (status == HG_OK) status = multiply(e, &a, &b, &c);
    if (status == HG_OK)
        printf("Backend: %s\nResult shape: [%u, %u]\n",
               hg_backend_type_name(hg_executor_backend_type(e)), (unsigned)hg_tensor_shape(c)[0],
               (unsigned)hg_tensor_shape(c)[1]);
    else
        fprintf(stderr, "%s\n", hg_last_error_text());
    hg_tensor_release(a);
    hg_tensor_release(b);
    hg_tensor_release(c);
    hg_executor_destroy(e);
    return status != HG_OK;
}
