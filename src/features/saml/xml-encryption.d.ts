declare module 'xml-encryption/lib/oaep.js' {
  /** RSA-OAEP with a hash for the message and one for the mask. @throws when the ciphertext or the key does not fit */
  export function privateDecryptOaep(
    key: string,
    ciphertext: Buffer,
    options: { oaepHash: string; mgf1Hash: string; oaepLabel: Buffer },
  ): Buffer
}
