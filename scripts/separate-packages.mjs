/** Packages that stay outside the bundle: native code, and what the program itself loads with `require`. Every other one is in it. */
export const separate = ['@node-rs/argon2', 'croner', 're2js']
