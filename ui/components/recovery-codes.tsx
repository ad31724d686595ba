import { t } from '../lib/language.ts'
import { save } from '../lib/save.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { useSecretKept } from './secret-kept.tsx'
import { tell } from './toast.tsx'

/** Recovery codes, which the service does not show again. */
export function RecoveryCodes({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  const text = codes.join('\n')
  const { keep, onEscape } = useSecretKept(onClose)
  const copy = async (): Promise<void> => {
    // Browsers have a clipboard on secure pages only; elsewhere the codes can be downloaded.
    await navigator.clipboard?.writeText(text)
    keep()
    tell(t('copied'))
  }
  return (
    <Dialog title={t('recoveryCodes')} onClose={onClose} onEscape={onEscape}>
      <p>{t('recoveryCodesOnce')}</p>
      <ul class="codes">
        {codes.map(code => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button
          onPress={() => {
            save('stowage-recovery-codes.txt', 'text/plain', `${text}\n`)
            keep()
          }}
        >
          {t('download')}
        </Button>
        <Button kind="quiet" onPress={copy}>
          {t('copy')}
        </Button>
        <Button kind="quiet" onPress={onClose}>
          {t('close')}
        </Button>
      </div>
    </Dialog>
  )
}
