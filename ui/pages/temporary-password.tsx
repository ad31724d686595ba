import { t } from '../lib/language.ts'

interface TemporaryPasswordProps {
  readonly isTemporary: boolean
  readonly onTemporary: (isTemporary: boolean) => void
}

/** Whether the user has to replace a password that an administrator sets. */
export const TemporaryPassword = ({ isTemporary, onTemporary }: TemporaryPasswordProps) => (
  <label class="check">
    <input type="checkbox" checked={isTemporary} onInput={event => onTemporary(event.currentTarget.checked)} />
    {t('temporaryPassword')}
  </label>
)
