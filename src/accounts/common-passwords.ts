/** Some fifty thousand of the passwords most often found in leaks, in lower case. Loaded only when asked for. */
export async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}
