module @jit_complex_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xf32>) -> (tensor<6xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[6]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[7]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[8]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[9]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[10]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[11]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[12]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[13]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[14]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<6xf32>) -> tensor<6xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %2 = stablehlo.multiply %1, %0 : tensor<6xcomplex<f32>>
    %3 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xcomplex<f32>>
    %4 = stablehlo.add %3, %2 : tensor<6xcomplex<f32>>
    %5 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,5.000000e-01)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %7 = stablehlo.multiply %6, %5 : tensor<6xcomplex<f32>>
    %8 = stablehlo.convert %arg1 : (tensor<6xf32>) -> tensor<6xcomplex<f32>>
    %9 = stablehlo.subtract %8, %7 : tensor<6xcomplex<f32>>
    %10 = stablehlo.sqrt %4 : tensor<6xcomplex<f32>>
    %11 = stablehlo.negate %4 : tensor<6xcomplex<f32>>
    %12 = stablehlo.sqrt %11 : tensor<6xcomplex<f32>>
    %13 = stablehlo.rsqrt %4 : tensor<6xcomplex<f32>>
    %14 = stablehlo.real %4 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %15 = stablehlo.imag %4 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %17 = stablehlo.compare EQ, %14, %16, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %18 = stablehlo.sine %14 : tensor<6xf32>
    %19 = stablehlo.cosine %14 : tensor<6xf32>
    %20 = stablehlo.exponential_minus_one %15 : tensor<6xf32>
    %21 = stablehlo.negate %15 : tensor<6xf32>
    %22 = stablehlo.exponential_minus_one %21 : tensor<6xf32>
    %23 = stablehlo.subtract %20, %22 : tensor<6xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %25 = stablehlo.divide %23, %24 : tensor<6xf32>
    %26 = stablehlo.add %20, %22 : tensor<6xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %28 = stablehlo.add %26, %27 : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %30 = stablehlo.divide %28, %29 : tensor<6xf32>
    %31 = stablehlo.multiply %18, %30 : tensor<6xf32>
    %32 = stablehlo.multiply %19, %25 : tensor<6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %34 = stablehlo.complex %33, %32 : tensor<6xcomplex<f32>>
    %35 = stablehlo.complex %31, %32 : tensor<6xcomplex<f32>>
    %36 = stablehlo.select %17, %34, %35 : tensor<6xi1>, tensor<6xcomplex<f32>>
    %37 = stablehlo.real %4 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %38 = stablehlo.imag %4 : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %40 = stablehlo.compare EQ, %37, %39, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %41 = stablehlo.sine %37 : tensor<6xf32>
    %42 = stablehlo.cosine %37 : tensor<6xf32>
    %43 = stablehlo.exponential_minus_one %38 : tensor<6xf32>
    %44 = stablehlo.negate %38 : tensor<6xf32>
    %45 = stablehlo.exponential_minus_one %44 : tensor<6xf32>
    %46 = stablehlo.subtract %43, %45 : tensor<6xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %48 = stablehlo.divide %46, %47 : tensor<6xf32>
    %49 = stablehlo.add %43, %45 : tensor<6xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %51 = stablehlo.add %49, %50 : tensor<6xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %53 = stablehlo.divide %51, %52 : tensor<6xf32>
    %54 = stablehlo.multiply %42, %53 : tensor<6xf32>
    %55 = stablehlo.negate %41 : tensor<6xf32>
    %56 = stablehlo.multiply %55, %48 : tensor<6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %58 = stablehlo.complex %54, %57 : tensor<6xcomplex<f32>>
    %59 = stablehlo.complex %54, %56 : tensor<6xcomplex<f32>>
    %60 = stablehlo.select %40, %58, %59 : tensor<6xi1>, tensor<6xcomplex<f32>>
    %61 = stablehlo.tan %4 : tensor<6xcomplex<f32>>
    %62 = stablehlo.tanh %4 : tensor<6xcomplex<f32>>
    %63 = chlo.sinh %4 : tensor<6xcomplex<f32>> -> tensor<6xcomplex<f32>>
    %64 = chlo.cosh %4 : tensor<6xcomplex<f32>> -> tensor<6xcomplex<f32>>
    %65 = stablehlo.power %4, %9 : tensor<6xcomplex<f32>>
    %66 = stablehlo.negate %4 : tensor<6xcomplex<f32>>
    %67 = stablehlo.exponential %66 : tensor<6xcomplex<f32>>
    %cst_11 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %68 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %69 = stablehlo.add %68, %67 : tensor<6xcomplex<f32>>
    %cst_12 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %70 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %71 = stablehlo.divide %70, %69 : tensor<6xcomplex<f32>>
    %72 = stablehlo.exponential_minus_one %4 : tensor<6xcomplex<f32>>
    %73 = stablehlo.log_plus_one %4 : tensor<6xcomplex<f32>>
    %74 = stablehlo.sign %4 : tensor<6xcomplex<f32>>
    %cst_13 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %75 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %76 = stablehlo.multiply %75, %4 : tensor<6xcomplex<f32>>
    %77 = stablehlo.sign %76 : tensor<6xcomplex<f32>>
    %cst_14 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %78 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %79 = stablehlo.multiply %78, %4 : tensor<6xcomplex<f32>>
    %80 = stablehlo.sqrt %79 : tensor<6xcomplex<f32>>
    return %10, %12, %13, %36, %60, %61, %62, %63, %64, %65, %71, %72, %73, %74, %77, %80 : tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>
  }
}
// bound 6e-07
// arg0 f32 6 0000c03f333333bf9a99993e000000c0000000006f12833a
// arg1 f32 6 cdcccc3e9a9999bf00000040cdcccc3dcdcc8c3fcdcc4cbe
// result0 f32 6,2 87219e3fcac6253e9b48163f1cd382bf46ee893f88916d3f30c5103d6c13b53fcdda3d3fccda3d3f5b50a23e1e81a1be
// result1 f32 6,2 cac6253e87219ebf1cd3823f9b48163f88916d3f46ee89bf6c13b53f30c510bdcdda3d3fccda3dbf1e81a13e5b50a23e
// result2 f32 6,2 e3b84b3f7492d5bd5d5ad83edb563c3f9d67083fa9f0eabeef96903c95d934bf5c982c3f5c982cbfcbe3ca3fbfe0c93f
// result3 f32 6,2 d7078a3fb905ee3c714e95bfa6c693bfa04f8e3f77c05d40ecf169bfebbc2abd0000000080f6aa3fc2b3853a002b4ebe
// result4 f32 6,2 5e9d9c3d41c7d1be4943b13fa1f078bfc4066640173189bf2722d6bedd88ba3d0492d53f000000008891823fb71d5339
// result5 f32 6,2 41f5cf3e8a972340033430bed85874bff869a43cc052783f2a2f04409da90c3f0000000083ed4c3f87ee7b3acb1c4abe
// result6 f32 6,2 2b3f6e3f747b883db271acbf97aaf4be313b993f1e26b6bf09f776bf6021e63b00000000407dfb3f3775883a29934fbe
// result7 f32 6,2 7908fb3fa8836a3fe6bc8cbe30be95bf3cc401be8455733f9ef566c0b64dc03e000000002b26643f0076803a00704bbe
// result8 f32 6,2 6bab0a402c45543f30dee83ee6ff343f32badebec5c58d3ee0936f40cc62b9bebf3de83e00000000ade57a3f005250b9
// result9 f32 6,2 c7dcb43f1c0da6be12269dbf90ee2e3fa6fd94c03860fe3f1155d63c1537283d37e531bef7658c3f2ad7a73f69fed93e
// result10 f32 6,2 7442533f4fa2733d17f1873ea98293be46f33d3fc6fb383fff4ef33d50ea2b3c0000003f77f49c3e8d10003f407c4dbd
// result11 f32 6,2 a92f48406a64df3f5aef51bff6f8ecbe15e7c7bf331c9d3ffa865dbf2b5d5d3c20e10bbf2b26643f0b439bbc14a44bbe
// result12 f32 6,2 55ce6d3f8676223eb6bc593e65b4a9bf0f8e5e3f62927e3fb706a33be2ae42408f01cb3e433e553f7685a83cb2ef49be
// result13 f32 6,2 2c5b773f5cec833eb1fd00bf9d205dbf90e6173eef2a7d3f3cae7fbf648b4c3d000000000000803f84d6a33b2eff7fbf
// result14 f32 6,2 000000000000000000000000000000800000000000000000000000800000000000000000000000000000000000000000
// result15 f32 6,2 000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
