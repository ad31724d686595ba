import { stat } from 'node:fs/promises'
import { secretsInFile } from '../config/describe.ts'
import type { LoadedSettings } from '../config/load.ts'
import { type CheckResult, warning } from './check-result.ts'

/**
 * Warns if all users of the machine can read a file with secrets. A group may read it: that is how a service reads settings that it
 * must not change.
 */
export async function checkSettingsFile({
  file,
  ...loaded
}: Pick<LoadedSettings, 'settings' | 'origins'> & { readonly file: string | undefined }): Promise<CheckResult[]> {
  const [secret] = secretsInFile(loaded)
  if (file === undefined || secret === undefined) return []
  const mode = await stat(file).then(
    ({ mode }) => mode,
    () => 0,
  )
  if ((mode & 0o007) === 0) return []
  return [
    warning(
      'settings-file-readable',
      'settings: all users of this machine can read {key} in {file}; run chmod o-rwx on it',
      { key: secret, file },
    ),
  ]
}
