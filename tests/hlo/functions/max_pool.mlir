module @jit_max_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x7x7x2xf32>) -> (tensor<1x4x4x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x7x7x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
    return %1 : tensor<1x4x4x2xf32>
  }
}
// bound 0
// arg0 f32 1,7,7,2 274d69bf28ab69bf1a9dc8bf39cadabca75ffe3e84f2823f1c2111be1f20863fe522933c080ebfbd05d5123f6a79873f7fd0aebea69c79befdb024bedc82a93d278166bfb495833f7e02cdbe64c5ec3e2c5253bf27b5b73ee17ec83e8e63d7be41560140f3f8bd3e6872e33f218a753fd78a29bffeadc3bec548df3e0c907a3dc4974a3d758992be277ce7bfd1d766beb4f50dc0225fbe3eecde39bf8d2537bf2d9160beb69b8b3efa4bb7bf2ad2dfbfd97488bfaaab02c0758377bf0ea2cb3f353e87bf7dc2263fbb91afbf4726993e26b4a3be40fe74bd699b113f7acce03f1a61473ee8affe3da02e79bfbf55153f63fa7bbe6afe543f890533bd5cd4de3f35d0fdbfdfdb97bec8a8613fed8db3bedbcb4abf812188be81a1b0bf099ef33d87301c406490923f03f48dbf48935fbf7c38cfbeb590803ff94c52bf02b330bff07e623fdf595d3fa364bfbedf128fbf0a5ec6bf04f132bffcc00ec032f43f3fb14921bf206cf63e4525ef3fb924963f635893bf1a875e3fa934943f39113fbf440b74bf25a6e0bd
// result f32 1,4,4,2 fdb024beb495833fa75ffe3e1f20863f415601406a79873f415601406a79873fc548df3eb495833fc548df3e0ea2cb3f415601407dc2263f415601407acce03f87301c406490923f87301c405cd4de3ff07e623f5cd4de3ff07e623f7acce03f87301c406490923f87301c40b924963f4525ef3fb924963fa934943fdf595d3f
