module @jit_dilated attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x1x6x6xf32>, %arg1: tensor<1x1x3x3xf32>) -> (tensor<1x1x6x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
    return %0 : tensor<1x1x6x6xf32>
  }
}
// bound 6e-07
// arg0 f32 1,1,6,6 07b4d8bf2e43c9be3843d4be22e52f3e2881e7bef65f03bf0b71483f935c363e6b4b95bf1ad1aa3f242b7f3f05ef12bfcbce543fa8333cbfe316903f270f5fbe14874dbf8a07bfbe760d44bf42c0443ec94e333e21a6123d5a7e0ebf2a4f6ac09920be3dcfb7f2bf830c7a3ed9bd903fbd3a8c3e3c64c7bed63138be924108be199b0cbf3a7315bf72846cbfb315983f
// arg1 f32 1,1,3,3 28d37ebc34ce743fb10680beafcc933dca782ebed9f8ec3e659e533f2175753e377f2cbf
// result f32 1,1,6,6 d4e3ecbeccafef3dfb5a9e3f482434bf1004493f74bd2dbea78c79bf98f71b3ffd22003f54dd0940a28078bec26427bf2d9ca3bfe431cebfc0494fbf9b886cbf001e743da8abca3ef618ca3f9c463a3ede4bb0bf3401a9bfd07cce3eff6710be82531c3f28a94a3e7696ad3f9c031dbf127550bf205f52be89eb7fbfd8f994bdd83be9bc4812cb3ff09dd5be64c06fc0
