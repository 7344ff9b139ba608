// SPDX-License-Identifier: MIT
// What veraPDF says of a PDF: its flavour (ua1, 3a), whether it conforms, and each rule that it breaks.
import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.*;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.*;
public class VeraPdf {
  public static void main(String[] a) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    PDFAFlavour flavour = PDFAFlavour.fromString(a[0]);
    try (PDFAParser parser = Foundries.defaultInstance().createParser(new FileInputStream(a[1]), flavour)) {
      PDFAValidator v = Foundries.defaultInstance().createValidator(flavour, false);
      ValidationResult r = v.validate(parser);
      System.out.println(flavour + " compliant " + r.isCompliant() + ", checks " + r.getTotalAssertions());
      java.util.Map<String,Integer> n = new java.util.TreeMap<>();
      for (TestAssertion t : r.getTestAssertions())
        if (t.getStatus() == TestAssertion.Status.FAILED) n.merge(t.getRuleId().getClause() + "-" + t.getRuleId().getTestNumber() + ": " + t.getMessage(), 1, Integer::sum);
      n.forEach((k, c) -> System.out.println(c + " x " + k));
    }
  }
}
